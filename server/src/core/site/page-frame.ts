/** The common parts of the pages for payers: the document around their content, their headers and their language. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { remember } from '../shared/remember.js';
import { createMade, sendMade } from './compressed.js';
import { html, type Html } from './html.js';
import { pickLocale, type PageLocale } from './page-texts.js';
import { trimEnd } from '../shared/trim-end.js';

/** Sends a file. @param next called if it is not there, or with the error if it cannot be sent */
export function sendFile(
  response: Response,
  file: string,
  options: Parameters<Response['sendFile']>[1] & object,
  next: NextFunction,
): void {
  response.sendFile(file, options, (error?: Error & { status?: number }) => {
    if (error && !response.headersSent) next(error.status === 404 ? undefined : error);
  });
}

/** For `sendFile`: says that a part of the build is missing. */
export const notBuilt =
  (response: Response, part: string, next: NextFunction): NextFunction =>
  (error?: unknown) => {
    if (error !== undefined) next(error);
    else response.status(503).type('text').send(`${part} has not been built. Run "npm run build".\n`);
  };

const dataFile = (name: string) => fileURLToPath(new URL(`../../../data/${name}`, import.meta.url));

/** Serves a stylesheet, behind the colours that all share. @param file its whole path */
export function stylesheetOf(file: string): RequestHandler {
  const made = createMade(async () =>
    Buffer.concat(await Promise.all([dataFile('tokens.css'), file].map((one) => readFile(one)))),
  );
  return async (request, response) => sendMade(request, response.type('css'), await made());
}

/** Serves the stylesheet of the pages for payers. */
export const sendStylesheet: RequestHandler = stylesheetOf(dataFile('pages.css'));

export interface Page {
  readonly status: number;
  readonly locale: PageLocale;
  readonly title: string;
  readonly content: Html;
  /** More for the document's head. */
  readonly head?: Html | undefined;
  /** The URL of its stylesheet. */
  readonly stylesheet: string;
  /** The Content-Security-Policy. */
  readonly policy: string;
}

/** The headers of every page of this server, for any reader: no frames, and no referrer for its links. */
export const pageHeaders = (policy: string) => ({
  'Content-Security-Policy': policy,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // A page that opened this one, or that this one opens, has no hold on its window.
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': permissionsPolicy,
});

/** Sends a page that nobody caches or indexes. */
export function sendPage(response: Response, page: Page): void {
  sendDocument(response, page, document(page).text);
}

/** Sends the text of a page. All headers are passed to Node in one call, which is several times faster than one by one. */
export function sendDocument(
  response: Response,
  { status, policy }: Pick<Page, 'status' | 'policy'>,
  text: string,
): void {
  response.writeHead(status, {
    ...pageHeaders(policy),
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    Vary: 'Accept-Language',
    'X-Robots-Tag': 'noindex',
  });
  response.end(text);
}

/** The number of texts of pages of one sort that a server keeps. */
const mostKept = 1000;

/** Caches the texts of pages until their inputs change. */
export function createKeptPages() {
  const kept = new Map<string, { readonly from: unknown; readonly text: string }>();
  /** @param name tells pages of one sort apart @param from the same value, by `Object.is`, as long as the page is the same */
  return (name: string, from: unknown, make: () => Omit<Page, 'status' | 'policy'>): string => {
    const cached = kept.get(name);
    if (cached && Object.is(cached.from, from)) return cached.text;
    const { text } = document(make());
    remember(kept, name, { from, text }, mostKept);
    return text;
  };
}

function document({ locale, title, content, head, stylesheet }: Omit<Page, 'status' | 'policy'>): Html {
  return html`<!doctype html>
    <html lang="${locale.tag}" dir="${locale.isRtl ? 'rtl' : 'ltr'}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <!-- iPhones make links of amounts and addresses; an extension would invert the QR code. -->
        <meta name="format-detection" content="telephone=no, date=no, address=no, email=no" />
        <meta name="darkreader-lock" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${stylesheet}" />
        ${head ?? ''}
      </head>
      <body>
        ${content}
      </body>
    </html> `;
}

export function notice(heading: string, text: string): Html {
  return html`<main class="notice">
    <h1>${heading}</h1>
    <p>${text}</p>
  </main>`;
}

/** The language in the address, `?locale=` or `?lang=`, otherwise the payer's browser's. */
export function localeOf(request: Request): PageLocale {
  const { locale, lang } = request.query;
  const asked = [locale, lang].filter((tag) => typeof tag === 'string');
  return pickLocale([...asked, ...request.acceptsLanguages()]);
}

export function pathOf(url: string): string {
  return trimEnd(new URL(url).pathname, '/');
}

/** The sources that a page's Content-Security-Policy allows. Sources that are left out are not allowed at all. */
interface Sources {
  readonly scripts?: string;
  readonly calls?: string;
  readonly images: string;
  readonly forms?: string;
  /** The names of Trusted Types policies. */
  readonly trustedTypes?: string;
}

/** A Content-Security-Policy for a page with styles of its own, which nobody frames. */
export function policyOf({ scripts, calls, images, forms = "'none'", trustedTypes }: Sources): string {
  const directives = {
    'default-src': "'none'",
    'script-src': scripts,
    'style-src': "'self'",
    'connect-src': calls,
    'img-src': images,
    'base-uri': "'none'",
    'form-action': forms,
    'frame-ancestors': "'none'",
    'require-trusted-types-for': scripts && "'script'",
    'trusted-types': trustedTypes,
  };
  return Object.entries(directives)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name} ${value}`))
    .join('; ');
}

/** The permissions that these pages never ask a browser for. The widget does write to the clipboard. */
const permissionsPolicy = 'camera display-capture geolocation hid microphone midi payment serial usb'
  .split(' ')
  .map((feature) => `${feature}=()`)
  .join(', ');
