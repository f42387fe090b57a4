/** What the payer keeps of a payment: on the screen, on paper, and as text. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Payment, ReceiptView } from '../contract/checkout.js';
import { worthOf } from '../money/amount-due.js';
import { isolate } from './isolate.js';
import { networkName } from './quoted.js';
import { logText } from './time-log.js';
import type { ViewContext } from './view.js';

type Row = readonly [name: string, value: string];

export function receipt(payment: Payment, context: ViewContext): TemplateResult {
  const { text, redirectUrl } = context;
  return html`<section part="receipt" class="receipt" aria-label=${text('receipt')}>
    <dl class="facts">
      ${rowsOf(payment, context).map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${isolate(value)}</dd>
          </div>`,
      )}
    </dl>
    ${transactionList(payment, context)}
    <div class="pair">
      <button part="print" class="second" type="button" @click=${() => print()}>${text('print')}</button>
      ${
        // Without a shop to go back to, saving the receipt is the main action.
        redirectUrl === undefined
          ? nothing
          : html`<button
              part="save"
              class="second"
              type="button"
              @click=${() => saveReceipt(payment, context)}
            >
              ${text('save')}
            </button>`
      }
    </div>
  </section>`;
}

/** The hash of each transfer, with a link to the network's explorer where there is one. */
export function transactionList(
  { receipts = [] }: Payment,
  { text }: ViewContext,
): TemplateResult | typeof nothing {
  const active = receipts.filter(({ status }) => status !== 'lost');
  if (active.length === 0) return nothing;
  return html`<dl class="facts">
    ${active.map(
      (one) =>
        html`<div>
          <dt>${text('transaction')}</dt>
          <dd part="transaction"><bdi dir="ltr">${hashOf(one)}</bdi></dd>
        </div>`,
    )}
  </dl>`;
}

function hashOf({ txHash, explorerUrl }: ReceiptView): TemplateResult | string {
  const short = txHash.length > 20 ? `${txHash.slice(0, 10)}…${txHash.slice(-8)}` : txHash;
  // Only https: the URL comes from the server's configuration, and a script must not.
  return explorerUrl.startsWith('https:')
    ? html`<a href=${explorerUrl} target="_blank" rel="noopener noreferrer" title=${txHash}>${short}</a>`
    : html`<span title=${txHash}>${short}</span>`;
}

function rowsOf(payment: Payment, context: ViewContext): Row[] {
  const { text, money, merchantName, locale } = context;
  const { id, txRef = '', currency = '', amount = 0, baseAmount, baseCurrency, transactionTimeLog } = payment;
  const received = payment.amountSeen ?? payment.amountReceived ?? 0;
  const price = money(worthOf(1, amount, baseAmount), baseCurrency);
  const paidAt = transactionTimeLog.findLast(({ type }) => type === 'success')?.time ?? payment.createdAt;
  const time = new Date(paidAt).toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'long' });
  const rows: Row[] = [
    [text('shop'), merchantName],
    [text('orderName'), txRef],
    [text('price'), money(baseAmount, baseCurrency)],
    [text('paid'), money(received, currency)],
    [text('network'), networkName(payment)],
    [text('rateName'), text('rateValue', { currency, price })],
    [text('time'), time],
    [text('paymentId'), id],
  ];
  return rows.filter(([, value]) => value !== '');
}

/** The whole receipt as plain text, with the time log. */
export function receiptText(payment: Payment, context: ViewContext): string {
  const { text } = context;
  const transactions = (payment.receipts ?? [])
    .filter(({ status }) => status !== 'lost')
    .map(({ txHash, explorerUrl }): Row => [text('transaction'), `${txHash} ${explorerUrl}`.trim()]);
  return [
    text('receipt'),
    ...[...rowsOf(payment, context), ...transactions].map(([name, value]) => `${name}: ${value}`),
    '',
    text('log'),
    logText(payment, context),
    '',
  ].join('\n');
}

export function saveReceipt(payment: Payment, context: ViewContext): void {
  const url = URL.createObjectURL(new Blob([receiptText(payment, context)], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${payment.txRef || payment.id}.txt`;
  link.click();
  URL.revokeObjectURL(url);
}
