/**
 * The demo shop's own server, in test mode only. It stands where a merchant's server would: it knows the prices, holds
 * a secret key, and asks the API over HTTP like any other merchant.
 */
import { randomBytes } from 'node:crypto';
import {
  ApiError,
  createMerchantClient,
  NetworkError,
  verificationRules,
  verifyPayment,
  type MerchantClient,
} from 'crypto-checkout/client';
import { fromUnits, toUnits } from 'crypto-checkout/contract';
import express, { Router, type ErrorRequestHandler, type Request } from 'express';
import * as z from 'zod/mini';

export interface DemoShopOptions {
  /** The shop's public test key, or undefined where it has none in use. */
  readonly publicKey: () => Promise<string | undefined>;
  readonly secretKey: string;
  /** Hosted pages are at this address and the payment's id. */
  readonly checkoutUrl: string;
  /** Where the build put the shop's pages. */
  readonly directory: string;
}

/** What one lantern costs: the shop's price list, never the browser's. */
const prices: Readonly<Record<string, string>> = {
  USD: '24.50',
  NGN: '37500',
  EUR: '21.90',
  GBP: '18.90',
  GHS: '265',
  KES: '3150',
  ZAR: '420',
};

const orderBody = z.object({
  quantity: z.int().check(z.minimum(1), z.maximum(9)),
  baseCurrency: z.enum(Object.keys(prices)),
});

const verificationBody = z.object({ paymentId: z.string().check(z.minLength(1), z.maxLength(100)) });

interface Order {
  /** The payment's reference. */
  readonly reference: string;
  readonly quantity: number;
  readonly baseCurrency: string;
  /** A decimal in `baseCurrency`. */
  readonly amount: string;
}

/**
 * An order is its reference: what was ordered stands in it, and what that costs is in the price list. So the demo shop
 * keeps nothing, and finds every order again after a restart. A real shop keeps its orders in a database, and
 * records there, once, that an order was delivered.
 */
function orderOf(reference: string): Order | undefined {
  const [, quantity = '', baseCurrency = ''] =
    /^lantern-([1-9])-([A-Z]{3})-[0-9a-f]{10}$/.exec(reference) ?? [];
  const price = prices[baseCurrency];
  if (price === undefined) return undefined;
  const amount = fromUnits(toUnits(price, 2) * BigInt(quantity), 2);
  return { reference, quantity: Number(quantity), baseCurrency, amount };
}

/** Router of `/demo-api` and of the shop's pages at `/`. */
export function demoShop({ publicKey, secretKey, checkoutUrl, directory }: DemoShopOptions): Router {
  const merchant = (request: Request): MerchantClient =>
    createMerchantClient({ apiUrl: ownAddress(request), secretKey });

  const api = Router();
  api.use(express.json({ limit: '10kb' }));
  api.use((_request, response, next) => {
    response.set('Cache-Control', 'no-store');
    next();
  });

  api.get('/config', async (request, response) => {
    const key = await publicKey();
    if (key === undefined) {
      response.status(503).json({ error: 'The shop has no public test key in use.' });
      return;
    }
    const { data } = await merchant(request).currencies.list();
    const assets = data.flatMap(({ code, payableDecimals, networks }) =>
      networks.map((network) => ({ currency: code, network: network.code, decimals: payableDecimals })),
    );
    response.json({ publicKey: key, checkoutUrl, prices, assets });
  });

  api.post('/orders', (request, response) => {
    const body = z.safeParse(orderBody, request.body);
    if (!body.success) {
      response.status(400).json({ error: 'Please order 1 to 9 lanterns in a currency of the list.' });
      return;
    }
    const { quantity, baseCurrency } = body.data;
    response.json(orderOf(`lantern-${quantity}-${baseCurrency}-${randomBytes(5).toString('hex')}`));
  });

  api.get('/orders/:reference', (request, response) => {
    const order = orderOf(request.params.reference);
    if (order) response.json(order);
    else response.status(404).json({ error: 'The shop knows no such order.' });
  });

  api.post('/orders/:reference/verification', async (request, response) => {
    const order = orderOf(request.params.reference);
    const body = z.safeParse(verificationBody, request.body);
    if (!order || !body.success) {
      response.status(order ? 400 : 404).json({ error: 'The shop knows no such order.' });
      return;
    }
    const params = { transaction_id: body.data.paymentId };
    const { data } = await merchant(request).transactions.verify({ params });
    const { verified, failed, isOverpaid } = verifyPayment(data, {
      txRef: order.reference,
      baseAmount: order.amount,
      baseCurrency: order.baseCurrency,
    });
    const { status, state, amount, amountReceived, currency, baseAmount, baseCurrency, txRef } = data;
    const rules = verificationRules.map((rule) => {
      const problem = failed.find((one) => one.rule === rule);
      return { rule, passed: problem === undefined, message: problem?.message };
    });
    response.json({
      verified,
      isOverpaid,
      rules,
      transaction: { status, state, amount, amountReceived, currency, baseAmount, baseCurrency, txRef },
    });
  });

  api.use((_request, response) => {
    response.status(404).json({ error: 'There is no such page in the shop.' });
  });
  api.use(answerFailure);

  const router = Router();
  router.use('/demo-api', api);
  router.use(
    express.static(directory, {
      setHeaders(response) {
        response.setHeader('Content-Security-Policy', policy);
        response.setHeader('X-Content-Type-Options', 'nosniff');
      },
    }),
  );
  router.get('/', (_request, response) => {
    response.status(503).type('text').send('The demo shop is not built yet: run "npm run build".\n');
  });
  return router;
}

/** The API's own answers are told on; anything else is the shop's fault, and says nothing about its inside. */
const answerFailure: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) return next(error);
  if (error instanceof ApiError && error.status === 404) {
    response.status(404).json({ error: 'The API knows no such payment of this shop.' });
  } else if (error instanceof ApiError || error instanceof NetworkError) {
    response.status(502).json({ error: 'The payment API did not answer. Try again in a moment.' });
  } else {
    const isBadRequest = error instanceof Error && 'expose' in error && error.expose === true;
    if (!isBadRequest) return next(error);
    response.status(400).json({ error: 'The shop could not read that request.' });
  }
};

/** Where this server answers, taken from the connection, so that no configuration can be wrong about it. */
function ownAddress({ socket: { localAddress = '127.0.0.1', localPort = 80 } }: Request): string {
  return `http://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/** As strict as the checkout allows: nothing from elsewhere but the merchant's logo. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src https: data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');
