/** A payment's story: the sentence that says what happened and what to do, and its life as a row of steps. */
import { html, nothing, type TemplateResult } from 'lit';
import type { LogCode, PaymentRecord } from '../../src/contract/payment-record.js';
import { isInGroup } from '../../src/contract/payment-states.js';
import { amount, time } from '../format.js';
import { texts as payments } from '../messages/payments.js';
import { texts } from '../messages/story.js';
import { language } from '../messages/pick.js';
import { sumOfDecimals } from '../sum.js';
import { shopZone } from '../zone.js';
import type { Refund } from './refund-parts.js';
import type { Delivery } from './webhook-parts.js';

let seconds: { readonly zone: string; readonly format: Intl.DateTimeFormat } | undefined;

/** A time to the second, as the payer's receipt has it: the events of a payment follow each other within a minute. */
export function exactTime(iso: string): TemplateResult | string {
  const zone = shopZone();
  if (seconds?.zone !== zone) {
    const format = new Intl.DateTimeFormat(language, { timeStyle: 'medium', timeZone: zone });
    seconds = { zone, format };
  }
  return time(iso, seconds.format);
}

/** All that arrived in the currency of the payment, or otherwise in others. */
function arrived({ credited = [], currency }: PaymentRecord): string {
  const own = credited.filter((one) => one.currency === currency);
  return (own.length > 0 ? own : credited).map((one) => amount(one.amount, one.currency)).join(', ');
}

/** Time from the deadline to the first late transfer. */
function lateness({ receipts, expiresBy }: PaymentRecord): number {
  const late = receipts
    .map((one) => Date.parse(one.firstSeenAt) - (expiresBy ?? 0))
    .filter((afterMs) => expiresBy !== undefined && afterMs > 0);
  return late.length === 0 ? 0 : Math.min(...late);
}

/** Undefined for a payment that asks for nothing. */
export function sentenceOf(payment: PaymentRecord): string | undefined {
  const { state, currency = '', credited = [], amount: due = 0 } = payment;
  const came = arrived(payment);
  const own = credited.filter((one) => one.currency === currency);
  // Negative if less than the price came.
  const excess = sumOfDecimals([...own.map((one) => one.amount), -due]);
  const price = amount(due, currency);
  if (payment.accepted && isInGroup(state, 'success')) {
    return texts.taken(amount(payment.accepted.amount, currency), price);
  }
  switch (state) {
    case 'settled_over':
      return texts.over(amount(excess, currency));
    case 'settled_late':
      return texts.paidLate(lateness(payment));
    case 'expired_partial':
      return texts.short(came, price);
    case 'expired_late':
      return excess.startsWith('-')
        ? texts.late(came, price, lateness(payment))
        : texts.lateWhole(came, lateness(payment));
    case 'cancelled_paid':
      return texts.afterCancel(came);
    case 'invalid':
      return texts.wrong(came);
    case 'reversed':
      return texts.reversed;
    case 'partially_paid':
      return texts.open(came || amount(payment.amountReceived ?? 0, currency), price);
    default:
      return undefined;
  }
}

interface Step {
  readonly label: string;
  /** Undefined until it happens. */
  readonly at: string | undefined;
  readonly tone?: 'bad' | 'caution';
  readonly note?: string;
}

const completed: readonly LogCode[] = [
  'completed',
  'accepted',
  'completed_over',
  'completed_late',
  'deposit_completed',
];
const ended: readonly LogCode[] = [
  ...(['expired', 'expired_partial', 'expired_late', 'expired_invalid', 'reversed'] as const),
  ...(['cancelled', 'cancelled_with_funds', 'paid_after_cancel'] as const),
];

function stepsOf(
  { createdAt, state, transactionTimeLog: log }: PaymentRecord,
  refunds: readonly Refund[],
  deliveries: readonly Delivery[],
): Step[] {
  const first = (...codes: readonly LogCode[]) => log.find(({ code }) => codes.includes(code))?.time;
  const last = (codes: readonly LogCode[]) => log.findLast(({ code }) => codes.includes(code))?.time;
  const { steps } = texts;
  const isOpen = isInGroup(state, 'choosing') || isInGroup(state, 'payable');
  const isPaid = isInGroup(state, 'success');
  const delivered = deliveries.find(({ status }) => status === 'delivered');
  const isFailing = !delivered && deliveries.some(({ tries }) => tries.length > 0);
  const paid = refunds.find(({ status }) => status === 'paid');
  const end: Step =
    isOpen || isPaid || state === undefined
      ? { label: steps.settled, at: isPaid ? last(completed) : undefined }
      : { label: payments.states[state], at: last(ended), tone: state === 'cancelled' ? 'caution' : 'bad' };
  return [
    { label: steps.created, at: createdAt },
    { label: steps.chosen, at: first('currency_set') },
    { label: steps.locked, at: first('currency_locked') },
    { label: steps.seen, at: first('transfer_seen', 'other_transfer_seen') },
    { label: steps.confirmed, at: first('transfer_confirmed') },
    end,
    {
      label: steps.notified,
      at: delivered?.tries.at(-1)?.triedAt,
      ...(isFailing && { tone: 'caution' as const, note: texts.failing }),
    },
    ...(refunds.length > 0 ? [{ label: steps.refunded, at: paid?.updatedAt }] : []),
  ];
}

export function life(
  payment: PaymentRecord,
  refunds: readonly Refund[],
  deliveries: readonly Delivery[],
): TemplateResult {
  return html`<ol class="life" aria-label=${texts.life}>
    ${stepsOf(payment, refunds, deliveries).map(
      ({ label, at, tone = '', note }) =>
        html`<li class="${at === undefined ? 'open' : ''} ${tone}">
          <b>${label}</b> <small>${at === undefined ? (note ?? '–') : exactTime(at)}</small>
        </li>`,
    )}
  </ol>`;
}

export function story(payment: PaymentRecord): TemplateResult | typeof nothing {
  const sentence = sentenceOf(payment);
  return sentence === undefined ? nothing : html`<p class="story">${sentence}</p>`;
}
