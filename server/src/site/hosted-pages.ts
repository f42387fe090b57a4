/** The hosted payment page, `{CHECKOUT_URL}/{payment id}`: a page on this server that runs the widget. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Router, type Response } from 'express';
import { html, type Html } from './html.js';
import { localeOf, notice, pathOf, policyOf, sendPage, sendStylesheet } from './page-frame.js';

/** What a payment's page shows and needs. */
export interface HostedPayment {
  readonly id: string;
  readonly merchantName: string;
  /** Undefined if the merchant has no active public key. */
  readonly publicKey: string | undefined;
}

export interface PagesOptions {
  readonly publicUrl: string;
  readonly checkoutUrl: string;
  readonly findPayment: (id: string) => Promise<HostedPayment | undefined>;
  /** The directory that the build wrote the widget to. */
  readonly widgetDirectory: string;
}

export function hostedPages({ publicUrl, checkoutUrl, findPayment, widgetDirectory }: PagesOptions): Router {
  const api = apiAddress(publicUrl, checkoutUrl);
  const path = pathOf(checkoutUrl);
  // A proxy takes the path of PUBLIC_URL off each request.
  const route =
    api.origin === undefined && path.startsWith(`${api.url}/`) ? path.slice(api.url.length) : path;
  const chunks = readChunks(widgetDirectory);
  const csp = policy(api.origin);

  const router = Router();
  router.get(`${route}/page.css`, sendStylesheet);
  router.get(`${route}/:id`, async (request, response) => {
    const locale = localeOf(request);
    const texts = locale.texts.hosted;
    const send = (to: Response, status: number, title: string, content: Html, head?: Html) =>
      sendPage(to, { status, locale, title, content, head, policy: csp, stylesheet: `${path}/page.css` });
    const payment = await findPayment(request.params.id);
    if (!payment) {
      const content = notice(texts.notFound, texts.notFoundHelp);
      return send(response, 404, texts.notFound, content);
    }
    const { id, merchantName, publicKey } = payment;
    const named = (text: string) => text.replace('{shop}', () => merchantName);
    if (publicKey === undefined) {
      const content = notice(named(texts.unavailableShop), texts.unavailableHelp);
      return send(response, 503, texts.unavailable, content);
    }
    // All that leads to the QR code is asked for at once, instead of each part when the one before it has run.
    const preloaded = partsToQr(locale.language).flatMap((part) =>
      chunks.filter((name) => name.replace(/-[\w-]{8}\.js$/, '') === part),
    );
    const script = html`<script type="module" src="${api.url}/crypto-checkout.js"></script>
      ${preloaded.map((name) => html`<link rel="modulepreload" href="${api.url}/chunks/${name}" crossorigin />`)}`;
    const apiUrl = api.url === '' ? html`` : html` api-url="${api.url}"`;
    const content = html`<main>
      <h1 class="unseen">${named(texts.pay)}</h1>
      <crypto-checkout payment-id="${id}" public-key="${publicKey}" ${apiUrl}></crypto-checkout>
      <noscript><p>${texts.needsScript}</p></noscript>
    </main>`;
    send(response, 200, named(texts.pay), content, script);
  });
  return router;
}

/** The file names of the widget's parts; none if the widget has not been built. */
function readChunks(directory: string): readonly string[] {
  try {
    return readdirSync(join(directory, 'chunks')).sort();
  } catch {
    return [];
  }
}

/** The parts that every payment in this language needs up to its QR code, in the order in which they are needed. */
function partsToQr(language: string): readonly string[] {
  return ['widget', 'flow', 'load', language, 'qr-code'];
}

/**
 * Where the page finds the API and the script. If the page has the same origin, this is a path only, so that the page
 * also works under another name of the same host. Otherwise it is a full URL, and `origin` is set.
 */
function apiAddress(publicUrl: string, checkoutUrl: string): { url: string; origin: string | undefined } {
  const { origin } = new URL(publicUrl);
  return origin === new URL(checkoutUrl).origin
    ? { url: pathOf(publicUrl), origin: undefined }
    : { url: origin + pathOf(publicUrl), origin };
}

/** Allows only what the widget needs: scripts, styles and calls of this page and the API, and the merchant's logo. */
function policy(apiOrigin: string | undefined): string {
  const own = apiOrigin === undefined ? "'self'" : `'self' ${apiOrigin}`;
  return policyOf({ scripts: own, calls: own, images: 'https: data:' });
}
