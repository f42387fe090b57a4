/** Serves what the pay button says before a payment: a merchant's coins, and for how long their price stays fixed. */
import { Router } from 'express';
import type { Payments } from '../payments/payments.js';

type Offer = ReturnType<Payments['offer']>;

/**
 * `/checkout-offer/PUBLIC_KEY.json`. The key is in the path and not in a header, so that browsers ask without a preflight request and
 * keep the answer. It says nothing that the first step of a payment does not.
 */
export function checkoutOffer(find: (publicKey: string) => Promise<Offer | undefined>): Router {
  const router = Router();
  router.get('/checkout-offer/:name', async (request, response, next) => {
    const [, publicKey] = /^(pk_.+)\.json$/.exec(request.params.name) ?? [];
    const offer = publicKey === undefined ? undefined : await find(publicKey);
    if (!offer) return next();
    response.set({
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Cache-Control': 'public, max-age=300',
      'X-Content-Type-Options': 'nosniff',
    });
    response.json(offer);
  });
  return router;
}
