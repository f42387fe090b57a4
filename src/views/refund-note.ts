/** Tells the payer how far a refund is. Its link comes from the shop: whoever sees this page need not be the payer. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Payment } from '../contract/checkout.js';
import { entryText } from './time-log.js';
import type { ViewContext } from './view.js';

const lastNews = ({ transactionTimeLog }: Payment) =>
  transactionTimeLog.findLast(({ code }) => code?.startsWith('refund_'));

/** The last news of a refund. The receipt has each with its transaction. */
export function refundNote(payment: Payment, context: ViewContext): TemplateResult | typeof nothing {
  const last = lastNews(payment);
  return last ? html`<p part="refund" class="error">${entryText(last, payment, context)}</p>` : nothing;
}

/**
 * What stands for the sentence about what the shop owes, while a refund is on its way or paid: nobody is to ask for it again.
 * Undefined without one.
 */
export function refundSentence(payment: Payment, context: ViewContext): string | undefined {
  const last = lastNews(payment);
  return last && last.code !== 'refund_ended' ? entryText(last, payment, context) : undefined;
}
