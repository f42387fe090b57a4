/** The facts below the QR code: the rate, until when it is fixed, and the fee. */
import { html, type TemplateResult } from 'lit';
import type { Payment } from '../contract/checkout.js';
import { worthOf } from '../money/amount-due.js';
import { isolate } from './isolate.js';
import type { ViewContext } from './view.js';

export function priceFacts(payment: Payment, { text, money, clock }: ViewContext): TemplateResult {
  const { currency = '', amount = 0, baseAmount, baseCurrency, expiresBy = 0 } = payment;
  const price = money(worthOf(1, amount, baseAmount), baseCurrency);
  const rows = [
    ['rate', text('rate', { time: clock(expiresBy) }), text('rateValue', { currency, price })],
    ['fee', text('fee'), text('feeValue')],
  ] as const;
  return html`<dl class="facts">
    ${rows.map(
      ([part, term, value]) =>
        html`<div>
          <dt>${term}</dt>
          <dd part=${part}>${isolate(value)}</dd>
        </div>`,
    )}
  </dl>`;
}
