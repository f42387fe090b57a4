/** The hosted payment page, `{CHECKOUT_URL}/{payment id}`: a page on this server that runs the widget. */
import { Router } from 'express';
import { html } from './html.js';
import {
  createKeptPages,
  localeOf,
  notice,
  pathOf,
  policyOf,
  sendDocument,
  sendPage,
  sendStylesheet,
} from './page-frame.js';
import { createWidgetHead } from './widget-head.js';

/** The data of a payment's page. */
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
  const { origin } = new URL(publicUrl);
  const isSameOrigin = origin === new URL(checkoutUrl).origin;
  /** The URL of the API and the script for the page. A bare path also works under another name of the same host. */
  const api = (isSameOrigin ? '' : origin) + pathOf(publicUrl);
  const path = pathOf(checkoutUrl);
  // A proxy takes the path of PUBLIC_URL off each request.
  const route = isSameOrigin && path.startsWith(`${api}/`) ? path.slice(api.length) : path;
  const headOf = createWidgetHead(api, widgetDirectory);
  // Only what the widget needs: scripts, styles and calls of this page and the API, and the merchant's logo.
  const own = isSameOrigin ? "'self'" : `'self' ${origin}`;
  const policy = policyOf({ scripts: own, calls: own, images: 'https: data:' });

  const apiUrl = api === '' ? html`` : html` api-url="${api}"`;
  const keptPage = createKeptPages();

  const router = Router();
  router.get(`${route}/page.css`, sendStylesheet);
  router.get(`${route}/:id`, async (request, response) => {
    const locale = localeOf(request);
    const texts = locale.texts.hosted;
    const page = { locale, policy, stylesheet: `${path}/page.css` };
    const payment = await findPayment(request.params.id);
    if (!payment) {
      const content = notice(texts.notFound, texts.notFoundHelp);
      return sendPage(response, { ...page, status: 404, title: texts.notFound, content });
    }
    const { id, merchantName, publicKey } = payment;
    const named = (text: string) => text.replace('{shop}', () => merchantName);
    if (publicKey === undefined) {
      const content = notice(named(texts.unavailableShop), texts.unavailableHelp);
      return sendPage(response, { ...page, status: 503, title: texts.unavailable, content });
    }
    const text = keptPage(`${id} ${locale.tag}`, `${publicKey} ${merchantName}`, () => {
      const content = html`<main>
        <h1 class="unseen">${named(texts.pay)}</h1>
        <crypto-checkout payment-id="${id}" public-key="${publicKey}" ${apiUrl}></crypto-checkout>
        <noscript><p>${texts.needsScript}</p></noscript>
      </main>`;
      return { ...page, title: named(texts.pay), content, head: headOf(locale.language) };
    });
    sendDocument(response, { ...page, status: 200 }, text);
  });

  return router;
}
