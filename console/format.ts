/** Amounts and times as people read them. */
import { html, type TemplateResult } from 'lit';
import { formatAmount } from '../src/money/format.js';
import { language } from './messages/pick.js';
import { shopZone } from './zone.js';

export const amount = (value: number | string, currency: string) => formatAmount(value, currency, language);

/** True for amounts, ids and the like, which are not for translators: they have digits, and no space that breaks. */
export const isValue = (shown: unknown) =>
  typeof shown === 'string' && !shown.includes(' ') && /\d/.test(shown);

/** Formats are kept: making one takes longer than using it a hundred times. */
let formats:
  | { readonly zone: string; readonly day: Intl.DateTimeFormat; readonly clock: Intl.DateTimeFormat }
  | undefined;

function formatsOf(timeZone: string) {
  if (formats?.zone === timeZone) return formats;
  formats = {
    zone: timeZone,
    day: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone }),
    clock: new Intl.DateTimeFormat(language, { timeStyle: 'short', timeZone }),
  };
  return formats;
}

/**
 * A time in the shop's zone, with UTC on hover.
 * @param exact writes it more exactly than to the minute
 */
export function time(
  iso: string | number | null | undefined,
  exact?: Intl.DateTimeFormat,
): TemplateResult | string {
  if (iso === null || iso === undefined || iso === '') return '';
  const date = new Date(iso);
  const { zone, day, clock } = formatsOf(shopZone());
  const utc = `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return html`<time datetime=${date.toISOString()} title=${zone === 'UTC' ? utc : `${zone}; ${utc}`}
    >${day.format(date)}<span class="clock">, ${(exact ?? clock).format(date)}</span></time
  >`;
}
