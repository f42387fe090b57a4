/** Everything that browsers load from any server: the widget's script, hosted pages, and the API's description. */
import { Router, type RequestHandler, type Response } from 'express';
import type { Database } from '../db/database.js';
import type { Keys } from '../merchants/keys.js';
import type { Merchants } from '../merchants/merchants.js';
import type { Payments } from '../payments/payments.js';
import type { Clock } from '../shared/clock.js';
import { Problem } from '../shared/problem.js';
import { flagsDirectory } from '../bank-accounts/countries.js';
import { createOpenApi } from '../reference/openapi.js';
import type { Described } from '../reference/resources.js';
import { built } from './built.js';
import { createMade, sendMade } from './compressed.js';
import { hostedPages, type HostedPayment } from './hosted-pages.js';
import { sendFile } from './page-frame.js';
import { receiptPage } from './receipt-page.js';
import { widgetFiles } from './widget-files.js';

export interface SiteOptions {
  readonly keys: Keys;
  readonly merchants: Merchants;
  readonly payments: Pick<Payments, 'offer' | 'owner' | 'retrieveAnywhere'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly database: Database;
  readonly publicUrl: string;
  readonly checkoutUrl: string;
  readonly described: Described;
}

export function site(options: SiteOptions): Router {
  const { keys, merchants, payments, clock, database, publicUrl, checkoutUrl, described } = options;

  async function findPayment(id: string): Promise<HostedPayment | undefined> {
    const owner = await payments.owner(id);
    if (!owner) return undefined;
    const { merchantId, mode } = owner;
    const [merchant, publicKey] = await Promise.all([
      merchants.settings(database.reader, merchantId),
      keys.publicKey(merchantId, mode),
    ]);
    return { id, merchantName: merchant.business_name, publicKey };
  }

  /** Finds a payment in its public view. Deposits to hosted wallets have no receipt. */
  async function findReceipt(id: string) {
    const found = await payments.retrieveAnywhere(id);
    if (found?.payment.receiptUrl === undefined) return undefined;
    return { payment: found.payment, now: clock.now(found.scope) };
  }

  const router = Router();
  router.use(widgetFiles(built));
  router.get('/checkout-offer/:name', async (request, response, next) => {
    const [, publicKey] = /^(pk_.+)\.json$/.exec(request.params.name) ?? [];
    const caller = publicKey === undefined ? undefined : await keys.authenticate(publicKey);
    if (publicKey === undefined) return next();
    if (!caller) throw new Problem('invalid_api_key', 'This public key is unknown here');
    sendOffer(response, payments.offer(caller));
  });
  const openApi = createMade(() => JSON.stringify(createOpenApi(publicUrl, described)));
  router.get('/openapi.json', async (request, response) => {
    // API editors and client generators that run in a browser read it from other origins.
    response.set('Access-Control-Allow-Origin', '*');
    sendMade(request, response.type('json'), await openApi());
  });
  router.get('/flags/:name', sendFlag);
  router.use(hostedPages({ publicUrl, checkoutUrl, findPayment, widgetDirectory: built.directory }));
  router.use(receiptPage(publicUrl, findReceipt));
  return router;
}

/**
 * Sends the texts of the pay button before a payment, `/checkout-offer/PUBLIC_KEY.json`: a merchant's coins, and the
 * time for which their price stays fixed. The key is in the path and not in a header, so that browsers ask without a
 * preflight request and keep the answer. It reveals nothing that the first step of a payment does not.
 */
function sendOffer(response: Response, offer: ReturnType<Payments['offer']>): void {
  response.set({
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Cache-Control': 'public, max-age=300',
    'X-Content-Type-Options': 'nosniff',
  });
  response.json(offer);
}

/** Serves the flags that the countries list links to, such as `/flags/ng.svg`. */
const sendFlag: RequestHandler<{ name: string }> = (request, response, next) => {
  const { name } = request.params;
  if (!/^[a-z]{2}\.svg$/.test(name)) return next();
  const headers = {
    // An SVG that is opened directly is a document. It must not run scripts or load anything.
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  };
  sendFile(response, name, { root: flagsDirectory, maxAge: '7d', headers }, next);
};
