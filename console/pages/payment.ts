/**
 * One payment: all of its data and actions.
 *
 * @place {"order": 30, "parent": "payments", "permission": "transactions.retrieve"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { cases, type PaymentCase } from '../../src/contract/console-cases.js';
import type { PaymentRecord, Receipt } from '../../src/contract/payment-record.js';
import { isInGroup } from '../../src/contract/payment-states.js';
import { payments } from '../../src/contract/payments.js';
import { transactions } from '../../src/contract/transactions.js';
import { amount, time } from '../format.js';
import { texts } from '../messages/payments.js';
import { texts as ofLife } from '../messages/story.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { copyable, outside, short } from '../ui/copy.js';
import { details, section, tag } from '../ui/details.js';
import { emptyHint } from '../ui/empty.js';
import { table } from '../ui/table.js';
import { acceptButton, caseSection, handledTag } from './case-parts.js';
import { findingTags, stateTag } from './payment-parts.js';
import { exactTime, life, story } from './story-parts.js';
import { refundList, type Refund } from './refund-parts.js';
import { deliveryList, type Delivery } from './webhook-parts.js';

const refundsOfPayment = refundList('payment');

interface Data {
  readonly payment: PaymentRecord;
  readonly refunds: readonly Refund[];
  readonly deliveries: readonly Delivery[];
  /** Undefined if the role sees none. */
  readonly work: PaymentCase | undefined;
}

async function load(view: View): Promise<Data> {
  const { api, id, signal, can } = view;
  const [payment, ofPayment, deliveries, work] = await Promise.all([
    api(transactions.retrieve, { params: { transaction_id: id } }, signal),
    can('refunds.list') ? refundsOfPayment.load(view, { paymentId: id }) : undefined,
    can('webhooks.list') ? deliveryList.load(view, { subjectId: id }) : undefined,
    can('cases.retrieve') ? api(cases.retrieve, { params: { payment_id: id } }, signal) : undefined,
  ]);
  return {
    payment: payment.data,
    refunds: ofPayment?.rows ?? [],
    deliveries: deliveries?.rows ?? [],
    work: work?.data,
  };
}

function render(data: Data, view: View): TemplateResult {
  const { payment, work } = data;
  return html`<p class="under">
      ${stateTag(payment)} ${findingTags(payment)} ${handledTag(work)} ${time(payment.createdAt)}
    </p>
    ${story(payment)}
    <div class="actions start">${actions(data, view)}</div>
    <div class="panels">
      ${section(ofLife.life, life(payment, data.refunds, data.deliveries))}
      ${work ? caseSection(payment, work, view) : nothing} ${section(texts.price, facts(payment, view))}
      ${section(texts.credit, credit(payment, view))} ${section(texts.receipts, receipts(payment, view))}
      ${section(texts.refunds, refundsOf(data, view))} ${section(texts.log, log(payment, view))}
      ${view.can('webhooks.list') ? section(texts.webhooks, deliveriesOf(data, view)) : nothing}
    </div>`;
}

function actions({ payment }: Data, view: View): TemplateResult {
  const isOpen = isInGroup(payment.state, 'choosing') || isInGroup(payment.state, 'payable');
  const hasCredit = (payment.credited ?? []).length > 0;
  return html`${
    hasCredit
      ? button(view, {
          text: texts.refund,
          permission: 'refunds.create',
          isGuarded: true,
          run: async () => (await import('./refund-form.js')).refund(payment, view),
          kind: 'main',
        })
      : nothing
  }
  ${simulateButton(payment, view)} ${receiptButton(payment, view)} ${acceptButton(payment, view)}
  ${button(view, { text: texts.resend, permission: 'transactions.resendWebhook', run: () => resend(payment, view) })}
  ${isOpen ? button(view, { text: texts.cancel, permission: 'payments.cancel', run: () => cancel(payment, view) }) : nothing}`;
}

/** The sandbox knows whether the network is simulated. */
function simulateButton(payment: PaymentRecord, view: View): TemplateResult | typeof nothing {
  const { state, addressInformation, isCurrencyLocked } = payment;
  if (view.mode !== 'test' || !addressInformation || !isCurrencyLocked || isInGroup(state, 'success'))
    return nothing;
  return button(view, {
    text: texts.simulate,
    permission: 'sandbox.transfer',
    run: async () => (await import('./simulate-form.js')).simulate(payment, view),
  });
}

function receiptButton(payment: PaymentRecord, view: View): TemplateResult | typeof nothing {
  const { receiptUrl, state } = payment;
  if (receiptUrl === undefined || !isInGroup(state, 'success')) return nothing;
  return button(view, {
    text: texts.sendReceipt,
    permission: 'transactions.retrieve',
    run: async () => (await import('./receipt-form.js')).showReceipt(payment, receiptUrl, view),
  });
}

function facts(payment: PaymentRecord, view: View): TemplateResult {
  const { currency, amountDue, addressInformation, customerDetails, metadata } = payment;
  const coins = (value: number | undefined) =>
    value === undefined || !currency ? undefined : amount(value, currency);
  return details([
    [texts.price, amount(payment.baseAmount, payment.baseCurrency)],
    [texts.due, coins(payment.amount === 0 ? undefined : payment.amount)],
    [texts.received, coins(payment.amountReceived)],
    [texts.missing, amountDue && payment.isCurrencyLocked ? coins(amountDue) : undefined],
    [texts.coin, payment.currencyName],
    [texts.network, payment.networkName],
    [texts.address, addressInformation && copyable(addressInformation.address, view)],
    [texts.expires, payment.expiresBy && time(payment.expiresBy)],
    [texts.payer, [customerDetails?.fullName, customerDetails?.email].filter(Boolean).join(', ')],
    ['Id', copyable(payment.id, view)],
    [texts.page, link(payment.pageUrl, view)],
    [texts.receipt, link(payment.receiptUrl, view)],
    ...Object.entries(metadata ?? {}),
  ]);
}

/** To send to the payer, or to open. */
const link = (url: string | undefined, view: View) =>
  url && html`${copyable(url, view, short(url, 24, 6))} ${outside(url, texts.open)}`;

function credit({ credited = [] }: PaymentRecord, view: View): TemplateResult {
  return table({
    label: texts.credit,
    view,
    rows: credited,
    columns: [
      { label: texts.credited, kind: 'money', cell: (one) => amount(one.amount, one.currency) },
      { label: texts.fee, kind: 'money', cell: (one) => amount(one.fee, one.currency) },
      { label: texts.net, kind: 'money', cell: (one) => amount(one.net, one.currency) },
    ],
    empty: texts.noCredit,
  });
}

/** Money that arrived for an order that is not paid needs somebody. */
function countsTag({ counts, status }: Receipt, isUnpaid: boolean): TemplateResult {
  if (status === 'lost') return tag(texts.lost, 'bad');
  if (!counts) return tag(texts.countsNot, 'caution');
  return isUnpaid && status === 'confirmed'
    ? tag(texts.creditedUnpaid, 'caution')
    : tag(texts.counts, 'good');
}

/** The name of a network, if the payment has it: money may arrive on another one. */
const nameOf = (code: string, { currencyNetwork, networkName, currencyOptions = [] }: PaymentRecord) =>
  (code === currencyNetwork
    ? networkName
    : currencyOptions.find((one) => one.network === code)?.networkName) ?? code;

function receipts(payment: PaymentRecord, view: View): TemplateResult {
  const { receipts: rows, unlistedReceipts = [], state } = payment;
  const isUnpaid = isInGroup(state, 'expired') || isInGroup(state, 'failed') || isInGroup(state, 'cancelled');
  const confirmations = (one: Receipt) => texts.confirmations(one.confirmations, one.requiredConfirmations);
  return html`${table({
    label: texts.receipts,
    view,
    rows,
    columns: [
      {
        label: texts.transaction,
        kind: 'hash',
        cell: (one) =>
          html`${copyable(one.txHash, view, short(one.txHash))} ${outside(one.explorerUrl, texts.explorer)}`,
      },
      { label: texts.amount, kind: 'money', cell: (one) => amount(one.amount, one.currency) },
      { label: texts.network, cell: (one) => nameOf(one.network, payment) },
      {
        label: texts.status,
        kind: 'status',
        cell: (one) =>
          html`${countsTag(one, isUnpaid)}
          ${one.status === 'lost' ? nothing : html`<small>${confirmations(one)}</small>`}`,
      },
      { label: texts.time, kind: 'time', cell: (one) => exactTime(one.firstSeenAt) },
    ],
    empty: texts.noReceipts,
  })}
  ${unlistedReceipts.map(
    (one) => html`<p><small>${texts.unlisted(one.count, amount(one.amount, one.currency))}</small></p>`,
  )}`;
}

const refundsOf = ({ refunds: rows }: Data, view: View) =>
  refundsOfPayment.table({ rows, pagination: undefined }, view, texts.noRefunds);

const deliveriesOf = ({ deliveries: rows }: Data, view: View) =>
  deliveryList.table(
    { rows, pagination: undefined },
    view,
    emptyHint(view, texts.noWebhooks, { text: texts.toDevelopers, page: 'developers' }),
  );

const log = ({ transactionTimeLog }: PaymentRecord, view: View) =>
  table({
    label: texts.log,
    view,
    rows: transactionTimeLog,
    columns: [
      { label: texts.time, kind: 'time', cell: (one) => exactTime(one.time) },
      { label: texts.event, kind: 'prose', cell: (one) => one.event },
    ],
    empty: '',
  });

async function resend({ id }: PaymentRecord, view: View): Promise<void> {
  await view.act(
    () => view.api(transactions.resendWebhook, { params: { transaction_id: id } }),
    texts.resent,
  );
}

async function cancel(payment: PaymentRecord, view: View): Promise<void> {
  const answer = await view.ask({
    title: texts.cancelTitle(payment.txRef ?? payment.id),
    text: texts.cancelText,
    action: texts.cancel,
    isFinal: true,
  });
  if (!answer) return;
  await view.act(() => view.api(payments.cancel, { params: { payment_id: payment.id } }), texts.cancelled);
}

export default page<Data>({
  title: (view, data) => texts.one(data?.payment.txRef ?? view.id),
  load,
  render,
  everyMs: 5_000,
  changes: 'payment',
});
