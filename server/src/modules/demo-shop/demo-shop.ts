/**
 * The demo shop's backend, in test mode only. It plays the part of a merchant's server: it knows the prices, holds a
 * secret key, and calls the API over HTTP like any other merchant.
 */
import { createHmac } from 'node:crypto';
import {
  ApiError,
  createMerchantClient,
  type MerchantClient,
  NetworkError,
  verificationRules,
  verifyPayment,
} from 'crypto-checkout/client';
import { fromUnits, toUnits, type Payment } from 'crypto-checkout/contract';
import express, { Router, type ErrorRequestHandler, type Request } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import * as z from 'zod/mini';
import { localHosts } from '../../core/shared/local-hosts.js';
import { createKeptFiles, sendCompressed } from '../../core/site/compressed.js';
import { clockAheadSeconds, Refused, simulate, simulationNames } from './simulator.js';
import { pageHeaders, policyOf } from '../../core/site/page-frame.js';

export interface DemoShopOptions {
  /** The shop's public test key; undefined if it has no active one. */
  readonly publicKey: () => Promise<string | undefined>;
  readonly secretKey: string;
  /** Signs what an order says, so that the shop knows its own again. */
  readonly orderKey: Uint8Array;
  /** The number of the next order. */
  readonly nextNumber: () => Promise<number>;
  /** True if visitors are limited in how often they use the simulator. */
  readonly isLimited: boolean;
  /** Wipes the shop's test data, and sets its test clock back; undefined if visitors may not. */
  readonly reset: (() => Promise<unknown>) | undefined;
  /** Hosted pages are at `{checkoutUrl}/{payment id}`. */
  readonly checkoutUrl: string;
  /** The URL of the console for the merchant's people; undefined if there is none. */
  readonly consoleUrl: string | undefined;
  /** The directory that the build wrote the shop's pages to. */
  readonly directory: string;
}

/** The price of one lantern. Prices are kept on the server: never trust one that a browser sends. */
const prices: Readonly<Record<string, string>> = {
  USD: '24.50',
  NGN: '37500',
  EUR: '21.90',
  GBP: '18.90',
  GHS: '265',
  KES: '3150',
  ZAR: '420',
};

/** The time for which the page's configuration is kept. */
const configMs = 5000;

/** The number of payments of one order that are looked for, one by one. */
const mostAttempts = 10;

const orderBody = z.object({
  quantity: z.int().check(z.minimum(1), z.maximum(9)),
  baseCurrency: z.enum(Object.keys(prices)),
});

const verificationBody = z.object({ paymentId: z.string().check(z.regex(/^\w{1,100}$/)) });

interface Order {
  /** The page's name for the order: its number and content, signed. */
  readonly id: string;
  /** The payment's reference: a short number, as shops have them. */
  readonly reference: string;
  readonly quantity: number;
  readonly baseCurrency: string;
  /** A decimal in `baseCurrency`. */
  readonly amount: string;
}

const simulationBody = z.object({
  paymentId: z.string().check(z.minLength(1), z.maxLength(100)),
  name: z.enum(simulationNames),
});

/** The body of a request. @param otherwise the message for any other body */
function parse<S extends z.ZodMiniType>(schema: S, request: Request, otherwise: string): z.output<S> {
  const body = z.safeParse(schema, request.body);
  if (!body.success) throw new Refused(otherwise, 400);
  return body.data;
}

/** Signs what an order's id says, so that nobody but the shop can make one. */
function sign(text: string, orderKey: Uint8Array): string {
  return createHmac('sha256', orderKey).update(text).digest('hex').slice(0, 20);
}

/**
 * Recovers an order from its id: the id encodes what was ordered, and the price list says what that costs.
 * So the demo shop stores no orders and still knows every one after a restart. A real shop stores its orders in a
 * database, and marks each as delivered there, once.
 */
function orderOf(id: string, orderKey: Uint8Array): Order | undefined {
  const [, content = '', reference = '', quantity = '', baseCurrency = '', signature = ''] =
    /^((\d{4,12})-([1-9])-([A-Z]{3}))-([0-9a-f]{20})$/.exec(id) ?? [];
  const price = prices[baseCurrency];
  if (price === undefined || signature !== sign(content, orderKey)) return undefined;
  const amount = fromUnits(toUnits(price, 2) * BigInt(quantity), 2);
  return { id, reference, quantity: Number(quantity), baseCurrency, amount };
}

/** A repeated payment of an order has its reference with a counter. */
function isPaymentOf(order: Order, { txRef }: Payment): boolean {
  return txRef?.replace(/:\d{1,9}$/, '') === order.reference;
}

/** The latest payment of an order that has an address. Each attempt has its own reference, and no other payment is read. */
async function findPayment(
  { transactions }: MerchantClient,
  { reference }: Order,
): Promise<Payment | undefined> {
  let latest: Payment | undefined;
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const txRef = attempt === 1 ? reference : `${reference}:${attempt}`;
    // One that a page has made, and one that the shop's server has made, at most.
    const { data } = await transactions.list({ query: { txRef, skip: 2 } });
    if (data.length === 0) break;
    latest = data.find((payment) => payment.addressInformation) ?? latest;
  }
  return latest;
}

/** The facts about a payment that the page's simulator needs; nothing about the payer. */
function simulatedPart(payment: Payment): object {
  const { id, status, state, currency, currencyNetwork, amountDue, amountSeen, addressInformation } = payment;
  return { id, status, state, currency, currencyNetwork, amountDue, amountSeen, addressInformation };
}

/** Serves the shop's API at `/demo-api` and its pages at `/`. */
export function demoShop(options: DemoShopOptions): Router {
  const { publicKey, secretKey, orderKey, nextNumber, isLimited, reset, checkoutUrl, consoleUrl, directory } =
    options;
  const accessOf = (request: Request) => ({ apiUrl: ownUrl(request), secretKey });
  const merchant = (request: Request) => createMerchantClient(accessOf(request));

  function requireOrder(id: string): Order {
    const order = orderOf(id, orderKey);
    if (!order) throw new Refused('The shop has no such order.', 404);
    return order;
  }

  // Each click moves simulated coins, or the clock of all of the shop's payments.
  const limitSimulations = limitVisitor(60);
  // Each read asks the API at least twice, with the shop's key, whose limit all visitors share.
  const limitReads = limitVisitor(120);

  const api = Router();
  api.use(express.json({ limit: '10kb' }));
  api.use((_request, response, next) => {
    response.set('Cache-Control', 'no-store');
    next();
  });

  /** Shared by all visitors: its API calls are too costly for each request without a key. */
  let config: { readonly reply: Promise<object | undefined>; readonly until: number } | undefined;
  const forgetConfig = () => (config = undefined);

  /** @returns undefined if there is no public key */
  async function readConfig(request: Request): Promise<object | undefined> {
    const key = await publicKey();
    if (key === undefined) return undefined;
    const [{ data }, ahead] = await Promise.all([
      merchant(request).currencies.list(),
      clockAheadSeconds(accessOf(request)),
    ]);
    const assets = data.flatMap(({ code, payableDecimals, networks }) =>
      networks.map((network) => ({ currency: code, network: network.code, decimals: payableDecimals })),
    );
    const canReset = reset !== undefined;
    return { publicKey: key, checkoutUrl, consoleUrl, prices, assets, clockAheadSeconds: ahead, canReset };
  }

  api.get('/config', async (request, response) => {
    if (!config || performance.now() > config.until) {
      config = { reply: readConfig(request), until: performance.now() + configMs };
      config.reply.catch(forgetConfig);
    }
    const reply = await config.reply;
    if (reply) {
      response.json(reply);
      return;
    }
    forgetConfig();
    throw new Refused('The shop has no active public test key. Create one with "keys create".', 503);
  });

  if (reset) {
    if (isLimited) api.use('/reset', limitSimulations);
    api.post('/reset', async (request, response) => {
      // Not for another site's page, which can point its own name to this machine.
      const { origin = '' } = request.headers;
      if (!URL.canParse(origin) || !localHosts.has(new URL(origin).hostname)) {
        throw new Refused('Only the shop’s own page can do that.', 403);
      }
      await reset();
      forgetConfig();
      response.json({});
    });
  }

  api.post('/orders', async (request, response) => {
    const wrong = 'Order 1 to 9 lanterns, in one of the listed currencies.';
    const { quantity, baseCurrency } = parse(orderBody, request, wrong);
    const content = `${await nextNumber()}-${quantity}-${baseCurrency}`;
    response.json(orderOf(`${content}-${sign(content, orderKey)}`, orderKey));
  });

  if (isLimited) api.use(/^\/orders\/[^/]*(\/verification)?$/, limitReads);
  api.get('/orders/:id', async (request, response) => {
    const order = requireOrder(request.params.id);
    // Another page that has the order's tag may have started it: the shop's own page does not see that otherwise.
    const payment = await findPayment(merchant(request), order);
    response.json({ ...order, payment: payment && simulatedPart(payment) });
  });

  api.post('/orders/:id/verification', async (request, response) => {
    const order = requireOrder(request.params.id);
    const { paymentId } = parse(verificationBody, request, 'Send the paymentId as text.');
    const params = { transaction_id: paymentId };
    const { data } = await merchant(request).transactions.verify({ params });
    const { verified, failed, isOverpaid } = verifyPayment(data, {
      txRef: order.reference,
      baseAmount: order.amount,
      baseCurrency: order.baseCurrency,
      mode: 'test',
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

  if (isLimited) api.use('/orders/:id/simulation', limitSimulations);
  api.post('/orders/:id/simulation', async (request, response) => {
    const order = requireOrder(request.params.id);
    const { paymentId, name } = parse(simulationBody, request, 'The simulator cannot do that.');
    const params = { transaction_id: paymentId };
    const { data: payment } = await merchant(request).transactions.verify({ params });
    // Only for payments of the shop's own orders: the key would let the visitor play with all of the merchant's.
    if (!isPaymentOf(order, payment)) throw new Refused('The shop has no such payment.', 404);
    const simulated = await simulate(name, payment, accessOf(request));
    // It may have moved the clock.
    forgetConfig();
    response.json({ ...simulated, clockAheadSeconds: await clockAheadSeconds(accessOf(request)) });
  });

  api.use(() => {
    throw new Refused('The shop has no such page.', 404);
  });
  api.use(handleError);

  const router = Router();
  router.use('/demo-api', api);
  // Pages from memory: the file system takes longer than all else of such a request.
  const read = createKeptFiles(directory);
  router.get(/^\/(?:demo\/[\w-]+\.html)?$/, async (request, response, next) => {
    const page = await read(request.path === '/' ? 'index.html' : request.path.slice(1));
    if (!page) return next();
    response.set(pageHeaders(policy)).set('Cache-Control', 'no-cache');
    sendCompressed(request, response.type('html'), page);
  });
  router.use(
    express.static(directory, {
      setHeaders(response) {
        response.setHeaders(new Map(Object.entries(pageHeaders(policy))));
      },
    }),
  );
  router.get('/', (_request, response) => {
    response.status(503).type('text').send('The demo shop has not been built. Run "npm run build".\n');
  });
  return router;
}

/** Limits how often a visitor may ask in a minute. */
const limitVisitor = (limit: number) =>
  rateLimit({
    windowMs: 60_000,
    limit,
    keyGenerator: (request) => ipKeyGenerator(request.ip ?? ''),
    standardHeaders: false,
    legacyHeaders: false,
    handler(_request, response) {
      response.status(429).set('Retry-After', '60').json({ error: 'Too many clicks. Wait a minute.' });
    },
  });

/** Explains failures of the API and bad requests. Other errors are bugs of the shop, and their details stay hidden. */
const handleError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) return next(error);
  if (error instanceof ApiError && error.status === 404) {
    response.status(404).json({ error: 'The shop has no such payment.' });
  } else if (error instanceof Refused) {
    response.status(error.status).json({ error: error.message });
  } else if (error instanceof ApiError && error.code === 'validation_error') {
    response.status(400).json({ error: 'The shop could not read that request.' });
  } else if (error instanceof ApiError || error instanceof NetworkError) {
    response.status(502).json({ error: 'The payment API is not responding. Try again in a moment.' });
  } else {
    const isBadRequest = error instanceof Error && 'expose' in error && error.expose === true;
    if (!isBadRequest) return next(error);
    response.status(400).json({ error: 'The shop could not read that request.' });
  }
};

/** This server's own URL, taken from the connection, so that it works whatever the configuration says. */
function ownUrl({ socket: { localAddress = '127.0.0.1', localPort = 80 } }: Request): string {
  return `http://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/** As strict as the checkout allows: the merchant's logo is all that may come from another origin. */
const policy = policyOf({ scripts: "'self'", calls: "'self'", images: 'https: data:', forms: "'self'" });
