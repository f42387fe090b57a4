/** The payer's receipt: on the screen, as a page to show, and as text. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Payment, ReceiptView } from '../contract/checkout.js';
import { amountDue, worthOf } from '../money/amount-due.js';
import { disclosure } from './disclosure.js';
import { isolate } from './isolate.js';
import { networkName } from './quoted.js';
import { logText } from './time-log.js';
import type { ViewContext } from './view.js';

type Row = readonly [name: string, value: string];

/** The amount paid, to whom and when, with the rest folded away, and the receipt to show or to save. */
export function receipt(payment: Payment, context: ViewContext): TemplateResult {
  const { text, money, merchantName } = context;
  const { currency = '', receiptUrl = '' } = payment;
  const details = html`<dl class="facts">
      ${rowsOf(payment, context).map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${isolate(value)}</dd>
          </div>`,
      )}
    </dl>
    ${transactionList(payment, context)}`;
  return html`<p part="paid" class="paid">
      <b class="amount" dir="ltr" translate="no">${money(receivedOf(payment), currency)}</b>
      <span class="quiet"
        >${merchantName && html`<bdi>${merchantName}</bdi> · `}<bdi>${paidAt(payment, context)}</bdi></span
      >
    </p>
    ${disclosure('details', 'receipt', text('details'), details, context)}
    <div class="minor">
      ${
        isWeb(receiptUrl)
          ? html`<a part="receipt-link" class="quiet-button" href=${receiptUrl} target="_blank" rel="noopener"
              >${text('receipt')}</a
            >`
          : nothing
      }
      <button part="save" class="quiet-button" type="button" @click=${() => saveReceipt(payment, context)}>
        ${text('save')}
      </button>
    </div>`;
}

/**
 * Each transfer: its hash, with a link to the network's explorer if there is one, its amount, and whether it counts.
 */
export function transactionList(
  { receipts = [] }: Payment,
  { text, money }: ViewContext,
): TemplateResult | typeof nothing {
  const active = receipts.filter(({ status }) => status !== 'lost');
  if (active.length === 0) return nothing;
  return html`<dl class="facts">
    ${active.map(
      (one) =>
        html`<div part="transfer">
          <dt>
            ${isolate(money(one.amount, one.currency))}
            ${one.counts ? nothing : html`<em>${text('notCounted')}</em>`}
          </dt>
          <dd part="transaction" translate="no"><bdi dir="ltr">${hashOf(one)}</bdi></dd>
        </div>`,
    )}
  </dl>`;
}

function hashOf({ txHash, explorerUrl }: ReceiptView): TemplateResult | string {
  const short = txHash.length > 20 ? `${txHash.slice(0, 10)}…${txHash.slice(-8)}` : txHash;
  return isWeb(explorerUrl)
    ? html`<a href=${explorerUrl} target="_blank" rel="noopener noreferrer" title=${txHash}>${short}</a>`
    : html`<span title=${txHash}>${short}</span>`;
}

/** True only for https: the URL comes from the server's configuration, and must not be a script. */
function isWeb(url: string): boolean {
  return url.startsWith('https:') || url.startsWith(`${location.origin}/`);
}

export function receivedOf({ amountSeen, amountReceived = 0 }: Payment): number {
  return amountSeen ?? amountReceived;
}

/** Amount received beyond the amount due, in the paying currency, at least 0. */
export function excessOf(payment: Payment): number {
  return amountDue({ amount: receivedOf(payment), amountReceived: payment.amount ?? 0 });
}

function paidAt({ transactionTimeLog, createdAt }: Payment, { locale }: ViewContext): string {
  const time = transactionTimeLog.findLast(({ type }) => type === 'success')?.time ?? createdAt;
  return new Date(time).toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'short' });
}

function rowsOf(payment: Payment, context: ViewContext): Row[] {
  const { text, money, merchantName } = context;
  const { id, txRef = '', currency = '', amount = 0, baseAmount, baseCurrency } = payment;
  const price = money(worthOf(1, amount, baseAmount), baseCurrency);
  const rows: Row[] = [
    [text('shop'), merchantName],
    [text('orderName'), txRef],
    [text('total'), money(baseAmount, baseCurrency)],
    [text('paid'), money(receivedOf(payment), currency)],
    [text('network'), networkName(payment)],
    [text('rateName'), text('rateValue', { currency, price })],
    [text('time'), paidAt(payment, context)],
    [text('paymentId'), id],
  ];
  return rows.filter(([, value]) => value !== '');
}

function transactionRows({ receipts = [] }: Payment, { text, money }: ViewContext): Row[] {
  return receipts
    .filter(({ status }) => status !== 'lost')
    .map(({ txHash, explorerUrl, amount, currency }) => [
      text('transaction'),
      `${money(amount, currency)} ${txHash} ${explorerUrl}`.trim(),
    ]);
}

/** The details that the shop needs about money that it owes, for an email or a chat. */
export function messageForShop(payment: Payment, context: ViewContext): string {
  const { text, money } = context;
  const { id, txRef = '', currency = '', amount = 0 } = payment;
  const excess = excessOf(payment);
  const rows: Row[] = [
    [text('orderName'), txRef],
    [text('paymentId'), id],
    [text('total'), money(amount, currency)],
    [text('paid'), money(receivedOf(payment), currency)],
    [text('excess'), excess > 0 ? money(excess, currency) : ''],
    ...transactionRows(payment, context),
  ];
  return asText(rows.filter(([, value]) => value !== ''));
}

const asText = (rows: readonly Row[]) => rows.map(([name, value]) => `${name}: ${value}`).join('\n');

/** The whole receipt as plain text, with the time log. */
export function receiptText(payment: Payment, context: ViewContext): string {
  const { text } = context;
  const facts = asText([...rowsOf(payment, context), ...transactionRows(payment, context)]);
  return [text('receipt'), facts, '', text('log'), logText(payment, context), ''].join('\n');
}

export function saveReceipt(payment: Payment, context: ViewContext): void {
  const url = URL.createObjectURL(new Blob([receiptText(payment, context)], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${payment.txRef || payment.id}.txt`;
  link.click();
  URL.revokeObjectURL(url);
}
