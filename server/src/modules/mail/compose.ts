/** Writes a message: plain text, and simple HTML without images or scripts. */
import type { PaymentRecord, StaffMailKind } from 'crypto-checkout/contract';
import { money, price } from '../../core/money/shown.js';
import { html } from '../../core/site/html.js';
import { languages, pickLocale } from '../../core/site/page-texts.js';
import type { Mode } from '../../core/shared/scope.js';
import type { Kind } from './kinds.js';
import { fill, textsOf } from './texts.js';

/** The facts of a message. */
export interface Letter {
  readonly id: string;
  readonly kind: Kind;
  readonly payment: PaymentRecord;
  readonly shop: string;
  /** `12.50 USDT`, if it is about another amount than the payment's. */
  readonly amount: string | undefined;
  readonly txHash: string | undefined;
  /** The link with which a payer claims a refund. */
  readonly link: string | undefined;
  readonly linkUntil: number | undefined;
  readonly offUrl: string;
  readonly publicUrl: string;
  readonly language: string;
}

export interface Message {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A shop or an order could be named with line breaks, to add lines of a header, or with a page of text. */
export const shortened = (text: string) => {
  const line = text.replace(/\p{C}/gu, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
};

/** `2026-11-26 18:30 UTC`: the payer's zone is unknown. */
export const moment = (timeMs: number) =>
  `${new Date(timeMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export function compose(letter: Letter): Message {
  const { kind, payment, language } = letter;
  return written({
    kind,
    language,
    mode: payment.mode,
    values: valuesOf(letter),
    offUrl: letter.offUrl,
    ...buttonOf(letter),
  });
}

/** The facts of a message to somebody of a team. */
export interface StaffLetter {
  readonly kind: StaffMailKind;
  readonly language: string;
  readonly mode: Mode;
  readonly values: Readonly<Record<string, string>>;
  /** A page of the console, which asks for a sign-in. */
  readonly url: string;
  readonly offUrl: string;
}

export const composeForStaff = (letter: StaffLetter): Message => written({ ...letter, label: 'openConsole' });

/** The facts of a message about an invoice, whose page is at `url`. */
export const composeForInvoice = (
  letter: Omit<StaffLetter, 'kind'> & { readonly kind: 'reminder' | 'overdue' },
): Message => written({ ...letter, label: 'openInvoice' });

interface Written extends Omit<StaffLetter, 'kind' | 'mode'> {
  readonly kind: Kind | StaffMailKind;
  readonly mode: Mode | undefined;
  readonly label: 'openConsole' | 'openInvoice' | ReturnType<typeof buttonOf>['label'];
}

function written({ kind, language, mode, values, label, url, offUrl }: Written): Message {
  const texts = textsOf(language);
  const { isRtl } = pickLocale([languages.includes(language) ? language : 'en']);
  const subject = fill(texts[`${kind}Subject`], values);
  const body = fill(texts[kind], values);
  const test = mode === 'test' ? [texts.test] : [];
  const footer = fill(texts.footer, values);
  const off = fill(texts.off, values);
  const lines = [body, `${texts[label]}:\n${url}`, ...test, `-- \n${footer}`, `${off}:\n${offUrl}`];
  return {
    subject: mode === 'test' ? `[test] ${subject}` : subject,
    text: `${lines.join('\n\n')}\n`,
    html: html`<!doctype html>
      <html lang="${language}" dir="${isRtl ? 'rtl' : 'ltr'}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width" />
          <meta name="color-scheme" content="light dark" />
          <title>${subject}</title>
        </head>
        <body style="margin:0;padding:24px;font:16px/1.5 sans-serif">
          <div style="max-width:560px;margin:0 auto">
            <h1 style="font-size:20px">${subject}</h1>
            <p>${body}</p>
            ${test.map((line) => html`<p><strong>${line}</strong></p>`)}
            <p><a href="${url}">${texts[label]}</a><br /><small>${url}</small></p>
            <hr />
            <p>
              <small>${footer}<br /><a href="${offUrl}">${off}</a></small>
            </p>
          </div>
        </body>
      </html> `.text,
  };
}

function valuesOf({ payment, shop, amount, txHash, linkUntil, publicUrl }: Letter) {
  const { currency = '', amountSeen = 0, amountDue = 0, baseAmount, baseCurrency, expiresBy } = payment;
  const until = linkUntil ?? expiresBy;
  return {
    shop: shortened(shop),
    order: shortened(payment.txRef ?? payment.id),
    received: amount ?? money(amountSeen, currency),
    due: money(payment.amount ?? 0, currency),
    missing: money(amountDue, currency),
    amount: amount ?? price(baseAmount, baseCurrency),
    until: until === undefined ? '' : moment(until),
    hash: txHash ?? '',
    origin: new URL(publicUrl).host,
  };
}

function buttonOf({ kind, link, payment }: Letter) {
  const { pageUrl = '', receiptUrl = '' } = payment;
  if (kind === 'refundLink') return { label: 'enterAddress', url: link ?? '' } as const;
  return kind === 'part' || kind === 'due'
    ? ({ label: 'see', url: pageUrl } as const)
    : ({ label: 'openReceipt', url: receiptUrl } as const);
}
