/**
 * Shows the payer the progress of a refund. Its link comes from the shop: anyone may see this page, not only the payer.
 */
import { html, nothing, type TemplateResult } from 'lit';
import type { LogEntry, Payment } from '../contract/checkout.js';
import { entryText } from './time-log.js';
import type { ViewContext } from './view.js';

const lastNews = ({ transactionTimeLog }: Payment) =>
  transactionTimeLog.findLast(({ code }) => code?.startsWith('refund_'));

/** The latest refund. The receipt lists each with its transaction. */
export function refundNote(payment: Payment, context: ViewContext): TemplateResult | typeof nothing {
  const last = lastNews(payment);
  if (!last) return nothing;
  const kept = last.code === 'refund_ended' ? undefined : feeKept(last, payment, context);
  return html`<p part="refund" class="error">
    ${entryText(last, payment, context)}${kept === undefined ? nothing : html`<br />${kept}`}
  </p>`;
}

/** The amount that the shop keeps, if that is why less goes back. */
function feeKept({ values }: LogEntry, { currency = '' }: Payment, context: ViewContext): string | undefined {
  const amount = values?.feeKept;
  if (amount === undefined) return undefined;
  return context.text('refundFeeKept', { amount: context.money(amount, values?.currency ?? currency) });
}

/**
 * Replaces the sentence about what the shop owes while a refund is on its way or paid: nobody should ask for it again.
 * Undefined without one.
 */
export function refundSentence(payment: Payment, context: ViewContext): string | undefined {
  const last = lastNews(payment);
  return last && last.code !== 'refund_ended' ? entryText(last, payment, context) : undefined;
}
