/** Amounts and times as people read them. */
import { html, type TemplateResult } from 'lit';
import { formatAmount } from '../src/money/format.js';
import { language } from './messages/pick.js';

export const amount = (value: number | string, currency: string) => formatAmount(value, currency, language);

/** True for amounts, ids and the like, which are not for translators: they have digits, and no space that breaks. */
export const isValue = (shown: unknown) =>
  typeof shown === 'string' && !shown.includes(' ') && /\d/.test(shown);

/** Local time, with UTC on hover. */
export function time(iso: string | number | null | undefined): TemplateResult | string {
  if (iso === null || iso === undefined || iso === '') return '';
  const date = new Date(iso);
  const day = date.toLocaleDateString(language, { dateStyle: 'medium' });
  const clock = date.toLocaleTimeString(language, { timeStyle: 'short' });
  const utc = `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return html`<time datetime=${date.toISOString()} title=${utc}
    >${day}<span class="clock">, ${clock}</span></time
  >`;
}

/** `awaiting_approval` as `awaiting approval`, for words of the API that have no text here. */
export const words = (code: string) => code.replaceAll('_', ' ');
