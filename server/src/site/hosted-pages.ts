/** The hosted payment page, `{CHECKOUT_URL}/{payment id}`: a page on this server that runs the widget. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Router, type Response } from 'express';
import { html, type Html } from './html.js';
import type { Mode } from '../shared/scope.js';

/** What a payment's page shows and needs. */
export interface HostedPayment {
  readonly id: string;
  readonly merchantName: string;
  readonly mode: Mode;
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

const stylesheet = fileURLToPath(new URL('../../data/pages.css', import.meta.url));

export function hostedPages({ publicUrl, checkoutUrl, findPayment, widgetDirectory }: PagesOptions): Router {
  const api = apiAddress(publicUrl, checkoutUrl);
  const path = pathOf(checkoutUrl);
  const chunks = chunksToQr(widgetDirectory);
  const frame = (title: string, content: Html, head = html``) =>
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="robots" content="noindex" />
          <meta name="color-scheme" content="light dark" />
          <title>${title}</title>
          <link rel="icon" href="data:," />
          <link rel="stylesheet" href="${path}/page.css" />
          ${head}
        </head>
        <body>
          ${content}
        </body>
      </html> `;

  function send(response: Response, status: number, page: Html): void {
    response.status(status).set({
      'Content-Security-Policy': policy(api.origin),
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      'X-Robots-Tag': 'noindex',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    });
    response.type('html').send(page.text);
  }

  const router = Router();
  router.get(`${path}/page.css`, (_request, response) => {
    response.sendFile(stylesheet, { maxAge: 300_000 });
  });
  router.get(`${path}/:id`, async (request, response) => {
    const payment = await findPayment(request.params.id);
    if (!payment) {
      return send(
        response,
        404,
        frame(
          'Payment not found',
          notice('Payment not found', 'Check the link, or ask the shop that gave it to you.'),
        ),
      );
    }
    const { id, merchantName, publicKey, mode } = payment;
    if (publicKey === undefined) {
      return send(
        response,
        503,
        frame(
          'Payment unavailable',
          notice(
            `${merchantName} cannot take payments here right now`,
            'You have not been charged. Please tell the shop that its account has no active public key.',
          ),
        ),
      );
    }
    // All that leads to the QR code is asked for at once, instead of each part when the one before it has run.
    const script = html`<script type="module" src="${api.url}/crypto-checkout.js"></script>
      ${chunks.map((name) => html`<link rel="modulepreload" href="${api.url}/chunks/${name}" crossorigin />`)}`;
    const apiUrl = api.url === '' ? html`` : html` api-url="${api.url}"`;
    const content = html`<main>
      <h1 class="unseen">Pay ${merchantName}</h1>
      ${mode === 'test' ? html`<p class="badge">Test mode: send no real coins, they would be lost</p>` : html``}
      <crypto-checkout payment-id="${id}" public-key="${publicKey}" ${apiUrl}></crypto-checkout>
      <noscript><p>This page needs JavaScript to show how to pay.</p></noscript>
    </main>`;
    send(response, 200, frame(`Pay ${merchantName}`, content, script));
  });
  return router;
}

/** The file names of the widget's parts that every payment needs; none if the widget has not been built. */
function chunksToQr(directory: string): readonly string[] {
  try {
    const names = readdirSync(join(directory, 'chunks'));
    return names.filter((name) => /^(widget|flow|en|qr-code|rolldown-runtime)-[\w-]+\.js$/.test(name)).sort();
  } catch {
    return [];
  }
}

function notice(heading: string, text: string): Html {
  return html`<main class="notice">
    <h1>${heading}</h1>
    <p>${text}</p>
  </main>`;
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

function pathOf(url: string): string {
  return new URL(url).pathname.replace(/\/+$/, '');
}

/** Allows only what the widget needs: scripts, styles and calls of this page and the API, and the merchant's logo. */
function policy(apiOrigin: string | undefined): string {
  const own = apiOrigin === undefined ? "'self'" : `'self' ${apiOrigin}`;
  return [
    "default-src 'none'",
    `script-src ${own}`,
    "style-src 'self'",
    `connect-src ${own}`,
    'img-src https: data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}
