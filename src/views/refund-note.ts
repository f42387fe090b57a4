/** Tells the payer how far a refund is. Its link comes from the shop: whoever sees this page need not be the payer. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Payment } from '../contract/checkout.js';
import { entryText } from './time-log.js';
import type { ViewContext } from './view.js';

/** The last news of a refund. The receipt has each with its transaction. */
export function refundNote(payment: Payment, context: ViewContext): TemplateResult | typeof nothing {
  const last = payment.transactionTimeLog.findLast(({ code }) => code?.startsWith('refund_'));
  return last
    ? html`<p part="refund" class="error" role="status">${entryText(last, payment, context)}</p>`
    : nothing;
}
