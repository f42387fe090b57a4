/** Everything that browsers load from this server: the widget's script, hosted pages, documentation and the demo shop. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Router, type RequestHandler, type Response } from 'express';
import * as z from 'zod/mini';
import type { Database } from '../db/database.js';
import { ensureSetting, writeSetting } from '../db/settings.js';
import type { Keys } from '../merchants/keys.js';
import type { Merchants } from '../merchants/merchants.js';
import type { Payments } from '../payments/payments.js';
import type { Clock } from '../shared/clock.js';
import { localHosts } from '../shared/local-hosts.js';
import { flagsDirectory } from '../bank-accounts/countries.js';
import { claimPage } from './claim-page.js';
import { consoleUrl } from '../people/console-url.js';
import { consolePage } from './console-page.js';
import { demoShop, type DemoShopOptions } from './demo-shop.js';
import { docs } from './docs.js';
import { hostedPages, type HostedPayment } from './hosted-pages.js';
import { sendFile } from './page-frame.js';
import type { Described } from '../reference/resources.js';
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
  readonly isConsoleOn: boolean;
  /** The demo shop; undefined turns it off. */
  readonly demo:
    | (Pick<DemoShopOptions, 'orderKey' | 'isLimited'> & {
        /** The merchant that it sells for. */
        readonly merchantId: string;
        /** Wipes that merchant's test data, and sets its test clock back. */
        readonly reset: () => Promise<unknown>;
      })
    | undefined;
}

const packageUrl = import.meta.resolve('crypto-checkout/package.json');
const { version } = z.parse(
  z.object({ version: z.string() }),
  JSON.parse(readFileSync(new URL(packageUrl), 'utf8')),
);

/** The files that `npm run build` made: the widget's script is in its own package, and everything else in this one. */
const built = {
  version,
  directory: fileURLToPath(new URL('dist/script', packageUrl)),
  packageFile: fileURLToPath(new URL('../../dist/crypto-checkout.tgz', import.meta.url)),
  demo: fileURLToPath(new URL('../../dist/demo', import.meta.url)),
  console: fileURLToPath(new URL('../../dist/console', import.meta.url)),
  claimScript: fileURLToPath(new URL('../../dist/claim/claim.js', import.meta.url)),
};

export function site(options: SiteOptions): Router {
  const { keys, merchants, payments, clock, database, publicUrl, checkoutUrl, isConsoleOn, demo, described } =
    options;

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

  /** As a public key reads it. A deposit to a hosted wallet has no receipt. */
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
    if (!caller) return next();
    sendOffer(response, payments.offer(caller));
  });
  // Its many routes would take most of the time of a request for any other page.
  const docsRouter = docs(publicUrl, built, described);
  router.use((request, response, next) =>
    /^\/(docs|openapi\.json)/.test(request.path) ? docsRouter(request, response, next) : next(),
  );
  router.get('/flags/:name', sendFlag);
  router.use(hostedPages({ publicUrl, checkoutUrl, findPayment, widgetDirectory: built.directory }));
  router.use(receiptPage(publicUrl, findReceipt));
  router.use(claimPage(publicUrl, built.claimScript));
  if (isConsoleOn) router.use(consolePage(publicUrl, built.console));
  if (demo) {
    const { merchantId, orderKey, isLimited, reset } = demo;
    router.use(
      demoShop({
        publicKey: () => keys.publicKey(merchantId, 'test'),
        secretKey: keys.addEphemeral(merchantId, 'test'),
        orderKey,
        nextNumber: () => nextOrderNumber(database),
        isLimited,
        // Elsewhere a stranger could delete what others try out.
        reset: localHosts.has(new URL(publicUrl).hostname) ? reset : undefined,
        checkoutUrl,
        consoleUrl: isConsoleOn ? consoleUrl(publicUrl) : undefined,
        directory: built.demo,
      }),
    );
  }
  return router;
}

/** Counts the demo shop's orders, so that each has a number of its own: the payments of two with one number would be mixed up. */
function nextOrderNumber(database: Database): Promise<number> {
  return database.write(async (transaction) => {
    const number = Number(await ensureSetting(transaction, 'demo order', '4820')) + 1;
    await writeSetting(transaction, 'demo order', String(number));
    return number;
  });
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
