/** The pages of payment links, `{PUBLIC_URL}/l/{slug}`: the form that sells, and the payment with the widget. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import express, { Router, type Request, type Response } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import type { Limits } from '../../core/config.js';
import type { Core } from '../../core/core.js';
import { Problem } from '../../core/shared/problem.js';
import { scopeOf } from '../../core/shared/scope.js';
import { built } from '../../core/site/built.js';
import { html, type Html } from '../../core/site/html.js';
import {
  localeOf,
  notice,
  pathOf,
  policyOf,
  sendPage,
  sendStylesheet,
  type Page,
} from '../../core/site/page-frame.js';
import type { PageLocale } from '../../core/site/page-texts.js';
import { createWidgetHead } from '../../core/site/widget-head.js';
import { form, readForm, type Sent, type Wrong } from './form-page.js';
import { invoiceLines } from './invoice-page.js';
import { PriceChanged, type Closed, type Sales } from './sales.js';
import type { LinkRow } from './tables.js';

const stylesheetFile = fileURLToPath(new URL('../../../data/links.css', import.meta.url));
const tokenForm = /^[\w-]{16,64}$/;

interface Found {
  readonly link: LinkRow;
  readonly left: number | undefined;
  readonly closed: Closed | undefined;
  readonly shop: string;
  readonly logo: string;
  /** Its days end by the clocks there. */
  readonly zone: string;
}

type LinkPagesDeps = Pick<
  Core,
  'database' | 'clock' | 'keys' | 'merchants' | 'currencies' | 'publicUrl' | 'config'
>;

export function linkPages(core: LinkPagesDeps, sales: Sales): Router {
  const { database, keys, merchants, currencies, publicUrl, config } = core;
  // A proxy takes the path of PUBLIC_URL off each request.
  const path = pathOf(publicUrl);
  const base = `${path}/l`;
  const stylesheet = `${base}/page.css`;
  const styles = html`<link rel="stylesheet" href="${base}/link.css" />`;
  const formPolicy = policyOf({ images: 'https: data:', forms: "'self'" });
  const widgetPolicy = policyOf({ scripts: "'self'", calls: "'self'", images: 'https: data:' });
  const widgetHead = createWidgetHead(path, built.directory);

  async function find(slug: string): Promise<Found | undefined> {
    const found = await sales.find(slug);
    if (!found) return undefined;
    const merchant = await merchants.settings(database.reader, found.link.merchant_id);
    const { business_name: shop, logo, time_zone: zone } = merchant;
    return { ...found, shop, logo, zone: zone ?? 'UTC' };
  }

  const addressOf = (slug: string, request: Request, rest = '') => {
    const { locale } = request.query;
    const asked = typeof locale === 'string' ? `?locale=${encodeURIComponent(locale)}` : '';
    return `${base}/${encodeURIComponent(slug)}${rest}${asked}`;
  };

  function send(response: Response, locale: PageLocale, page: Pick<Page, 'status' | 'title' | 'content'>) {
    sendPage(response, { ...page, locale, stylesheet, head: styles, policy: formPolicy });
  }

  function sendUnknown(response: Response, locale: PageLocale): void {
    const { notFound: title, notFoundHelp } = locale.texts.hosted;
    send(response, locale, { status: 404, title, content: notice(title, notFoundHelp) });
  }

  interface Shown {
    readonly status?: number;
    readonly sent?: Sent;
    readonly wrong?: Wrong;
    /** Shown above the form. */
    readonly alert?: string;
  }

  function sendForm(request: Request, response: Response, found: Found, shown: Shown = {}): void {
    const { link, left, shop } = found;
    const locale = localeOf(request);
    const texts = locale.texts.link;
    const { sent = {}, wrong = {}, alert = '' } = shown;
    // The form is the same one if it is sent again after a mistake.
    const given = sent['token'] ?? '';
    const token = tokenForm.test(given) ? given : randomBytes(18).toString('base64url');
    const currency = currencies.known(link.base_currency);
    const action = addressOf(link.slug, request);
    const content = html`<main class="link">
      ${heading(found, locale, core)} ${alert === '' ? '' : html`<p class="error" role="alert">${alert}</p>`}
      ${form({ link, currency, locale, action, token, left, sent, wrong })}
      ${link.mode === 'test' ? html`<p class="test">${texts.test}</p>` : ''}
    </main>`;
    send(response, locale, { status: shown.status ?? 200, title: `${link.title} · ${shop}`, content });
  }

  function sendClosed(response: Response, locale: PageLocale, found: Found, closed: Closed): void {
    const texts = locale.texts.link;
    const [title, help] = {
      off: [texts.closed, texts.closedHelp],
      expired: [texts.closed, texts.closedHelp],
      sold_out: [texts.soldOut, texts.soldOutHelp],
      held: [texts.held, texts.heldHelp],
      paid: [texts.paid, texts.paidHelp],
    }[closed] satisfies readonly string[];
    const content = html`<main class="link">
      ${heading(found, locale, core)}
      <h2>${title ?? ''}</h2>
      <p>${(help ?? '').replace('{shop}', () => found.shop)}</p>
    </main>`;
    // The page is there, whatever it sells: a link that ends is no broken link.
    send(response, locale, { status: 200, title: `${title} · ${found.link.title}`, content });
  }

  const router = Router();
  router.get('/l/page.css', sendStylesheet);
  router.get('/l/link.css', (_request, response) => response.sendFile(stylesheetFile, { maxAge: 300_000 }));

  router.get('/l/:slug', async (request, response) => {
    const found = await find(request.params.slug);
    if (!found) return sendUnknown(response, localeOf(request));
    if (found.closed) return sendClosed(response, localeOf(request), found, found.closed);
    sendForm(request, response, found);
  });

  const isWithinLimits = config.limits && createPressLimit(config.limits);
  router.post(
    '/l/:slug',
    express.urlencoded({ extended: false, limit: '20kb', parameterLimit: 30 }),
    async (request: Request<{ slug: string }>, response) => {
      const locale = localeOf(request);
      const texts = locale.texts.link;
      const found = await find(request.params.slug);
      if (!found) return sendUnknown(response, locale);
      const sent = sentOf(request.body);
      const again = (shown: Shown) => {
        if (found.closed) return sendClosed(response, locale, found, found.closed);
        sendForm(request, response, found, { status: 400, sent, ...shown });
      };
      if (isWithinLimits && !(await isWithinLimits(request, response))) {
        return again({ status: 429, alert: texts.busy });
      }
      const { link } = found;
      const { order, wrong } = readForm(link, sent);
      if (!wrong['amount'] && !sales.isAllowed(link, order.amount)) {
        return again({ wrong: { ...wrong, amount: 'wrongAmount' } });
      }
      if (Object.keys(wrong).length > 0) return again({ wrong });
      const { token = '', price: seenPrice } = sent;
      if (!tokenForm.test(token)) return again({ alert: texts.failed });
      try {
        const press = { ...order, token, seenPrice, address: addressOfPayer(request) };
        const id = await sales.press(link.id, press);
        response.redirect(303, addressOf(link.slug, request, `/${id}`));
      } catch (error) {
        if (error instanceof PriceChanged) return again({ status: 409, alert: texts.priceChanged });
        if (!(error instanceof Problem)) throw error;
        await explain(error, request, response, again);
      }
    },
  );

  /** Says why a press made no payment. */
  async function explain(
    problem: Problem,
    request: Request<{ slug: string }>,
    response: Response,
    again: (shown: Shown) => void,
  ): Promise<void> {
    const locale = localeOf(request);
    const texts = locale.texts.link;
    const now = await find(request.params.slug);
    if (now?.closed) return sendClosed(response, locale, now, now.closed);
    const { param } = problem.details;
    if (problem.code === 'sold_out')
      again({ status: 409, wrong: { quantity: 'wrong' }, alert: texts.soldOut });
    else if (param === 'quantity') again({ wrong: { quantity: 'wrong' } });
    // The link allows it, but no coin can be paid in so little.
    else if (param === 'amount') again({ wrong: { amount: 'tooSmall' } });
    else again({ status: problem.status, alert: texts.failed });
  }

  router.get('/l/:slug/:payment', async (request, response) => {
    const { slug, payment: id } = request.params;
    const locale = localeOf(request);
    const found = await find(slug);
    if (!found || !(await sales.isOf(found.link, id))) return sendUnknown(response, locale);
    const { hosted, link: texts } = locale.texts;
    const { link, shop } = found;
    const { merchantId, mode } = scopeOf(link);
    const publicKey = await keys.publicKey(merchantId, mode);
    if (publicKey === undefined) {
      const content = notice(
        hosted.unavailableShop.replace('{shop}', () => shop),
        hosted.unavailableHelp,
      );
      return send(response, locale, { status: 503, title: hosted.unavailable, content });
    }
    const success = link.success_text;
    const content = html`<main>
      <h1 class="unseen">${link.title}</h1>
      <crypto-checkout
        payment-id="${id}"
        public-key="${publicKey}"
        ${path === '' ? '' : html`api-url="${path}"`}
      >
        ${success === '' ? '' : html`<p slot="success" class="success">${success}</p>`}
      </crypto-checkout>
      <noscript><p>${hosted.needsScript}</p></noscript>
      ${
        link.is_single
          ? ''
          : html`<p class="again"><a href="${addressOf(link.slug, request)}">${texts.another}</a></p>`
      }
    </main>`;
    const head = html`${styles} ${widgetHead(locale.language)}`;
    const title = `${link.title} · ${shop}`;
    sendPage(response, { status: 200, locale, title, content, head, stylesheet, policy: widgetPolicy });
  });
  return router;
}

function heading(
  { link, shop, logo, zone }: Found,
  locale: PageLocale,
  { currencies, clock, publicUrl }: Pick<Core, 'currencies' | 'clock' | 'publicUrl'>,
): Html {
  const texts = locale.texts.link;
  const dates = new Intl.DateTimeFormat(locale.tag, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: zone,
    numberingSystem: 'latn',
  });
  const at = (text: string, time: number | null) =>
    time === null
      ? ''
      : html`<p class="until">${text.replace('{time}', `${dates.format(time)} ${zone}`)}</p>`;
  const isOverdue = link.due_at !== null && clock.now(scopeOf(link)) > link.due_at;
  const currency = currencies.known(link.base_currency);
  return html`<p class="shop">
      ${logo.startsWith('https:') ? html`<img class="logo" src="${logo}" alt="" />` : ''}<span>${shop}</span>
    </p>
    <h1>${link.title}</h1>
    ${link.text === '' ? '' : html`<p class="text">${link.text}</p>`} ${invoiceLines(link, locale, currency)}
    ${at(isOverdue ? texts.overdue : texts.due, link.due_at)} ${at(texts.until, link.expires_at)}
    ${link.lines.length === 0 ? '' : html`<p class="printed">${publicUrl}/l/${link.slug}</p>`}`;
}

/** Text by name; anything else is left out. */
function sentOf(body: unknown): Sent {
  if (typeof body !== 'object' || body === null) return {};
  return Object.fromEntries(
    Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** IPv6 addresses of one subnet count as one. */
const addressOfPayer = (request: Request): string => ipKeyGenerator(request.ip ?? '');

/** About what a press leaves in the database, indexes included. */
const storedBytes = 5000;

/**
 * As many presses as a public key may create payments: of an address, of a link, and in a day.
 * @returns false for a press too many
 */
function createPressLimit(limits: Limits) {
  const { paymentsPerMinutePerIp, paymentsPerMinutePerKey, storedMegabytesPerDay } = limits;
  const limiter = (limit: number, windowMs: number, keyGenerator: (request: Request) => string) =>
    rateLimit({
      limit: Math.floor(limit),
      windowMs,
      keyGenerator,
      standardHeaders: false,
      legacyHeaders: false,
      validate: false,
      handler: (_request, _response, next) => next(new Error('Too many presses')),
    });
  const slugOf = (request: Request) => String(request.params['slug']);
  const all = [
    limiter(paymentsPerMinutePerIp, 60_000, addressOfPayer),
    limiter(paymentsPerMinutePerKey, 60_000, slugOf),
    limiter((storedMegabytesPerDay * 1_000_000) / storedBytes, 86_400_000, slugOf),
  ];
  return async (request: Request, response: Response): Promise<boolean> => {
    for (const one of all) {
      const isOver = await new Promise<boolean>((resolve) => {
        void one(request, response, (error?: unknown) => resolve(error !== undefined));
      });
      if (isOver) return false;
    }
    return true;
  };
}
