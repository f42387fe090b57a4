/** Help for payers on an exchange, which takes its fee out of the amount: too little would arrive. */
import { html, type TemplateResult } from 'lit';
import type { Payment } from '../contract/checkout.js';
import { amountDue } from '../money/amount-due.js';
import { disclosure } from './disclosure.js';
import type { ViewContext } from './view.js';

export function exchangeHelp(payment: Payment, context: ViewContext): TemplateResult {
  const { text, money } = context;
  const amount = money(amountDue(payment), payment.currency ?? '');
  const content = html`<p>${text('exchangeFee', { amount })}</p>`;
  return disclosure('exchange', 'exchange', text('exchange'), content, context);
}
