/** Help for payers on an exchange, which takes its fee out of the amount: too little would arrive. */
import { html, type TemplateResult } from 'lit';
import type { TrackedState } from '../checkout/state.js';
import { amountDue } from '../money/amount-due.js';
import { disclosure } from './disclosure.js';
import { isolate } from './isolate.js';
import { networkName } from './quoted.js';
import type { ViewContext } from './view.js';

export function exchangeHelp({ payment }: TrackedState, context: ViewContext): TemplateResult {
  const { text, money } = context;
  const { currency = '', currencyName = currency } = payment;
  const amount = money(amountDue(payment), currency);
  const rows = [
    [text('currency'), currencyName === currency ? currency : `${currencyName} (${currency})`],
    [text('network'), networkName(payment)],
    [text('exchangeAmount'), amount],
  ] as const;
  const content = html`<p>${text('exchangeNote')}</p>
    <dl class="facts">
      ${rows.map(
        ([term, value]) =>
          html`<div>
            <dt>${term}</dt>
            <dd>${isolate(value)}</dd>
          </div>`,
      )}
    </dl>
    <p>${text('exchangeFee', { amount })}</p>`;
  return disclosure('exchange', 'exchange', text('exchange'), content, context);
}
