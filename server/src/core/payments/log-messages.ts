/** The messages of a payment's time log, which payers and merchants read. */
import { statusOf, type PaymentFinding, type PaymentState } from 'crypto-checkout/contract';
import type { LogEntry } from './store.js';

/** The sums of a payment, as plain decimals in its currency. An entry keeps those that its message names, in this order. */
const names = ['seen', 'received', 'amount', 'excess', 'currency', 'confirmations'] as const;

/** A payment's state, with the findings that are true of its money in any state. */
export interface Standing {
  readonly state: PaymentState;
  readonly findings: readonly PaymentFinding[];
  /** True if it is a success only because the shop took less than was due. */
  readonly isTakenShort?: boolean;
}

export type Sums = Readonly<Record<(typeof names)[number], string>>;

/** Messages by code. Placeholders such as `{seen}` are sums. */
const messages = {
  event: {
    underpaid: 'Underpaid so far: {seen} of {amount} {currency} seen',
    confirming: 'Full amount seen, waiting for {confirmations} confirmations',
    excess_lost: 'The excess left the chain: {received} {currency} received',
    overpaid: 'Overpaid by {excess} {currency}; the excess goes to the merchant',
    cancelled: 'Payment cancelled',
    paid_after_cancel: 'Funds arrived after the payment was cancelled; they go to the merchant',
    cancelled_with_funds: 'Payment cancelled; the funds that arrived go to the merchant',
  },
  success: {
    completed: 'Payment complete: {received} {currency} received',
    completed_over:
      'Payment complete: {received} {currency} received, {excess} {currency} more than due; the excess goes to the merchant',
    accepted: 'Accepted by the shop: {received} of {amount} {currency} received',
    completed_late: 'Paid late but in full, and accepted: {received} {currency} received',
  },
  error: {
    expired: 'Payment expired: nothing arrived in time',
    expired_partial:
      'Payment expired with {received} of {amount} {currency} received; the funds go to the merchant',
    expired_late:
      'Paid late: {received} of {amount} {currency} received, not accepted; the funds go to the merchant',
    expired_invalid:
      'Payment expired: the funds came in the wrong currency or on the wrong network; they go to the merchant',
    reversed: 'A confirmed transfer left the chain: the payment is no longer complete',
  },
} as const satisfies Record<LogEntry['type'], Partial<Record<LogEntry['code'], string>>>;

/** The log entries for a change; none if its cause is already logged. */
export function logEntriesOfChange(
  from: Standing,
  to: Standing,
  sums: Sums | undefined,
): readonly LogEntry[] {
  return codesOf(from, to).flatMap((code) =>
    (['event', 'success', 'error'] as const).flatMap((type) => {
      const texts: Partial<Record<LogEntry['code'], string>> = messages[type];
      const text = texts[code];
      if (text === undefined) return [];
      const values = Object.fromEntries(
        names.filter((name) => text.includes(`{${name}}`)).map((name) => [name, sums?.[name] ?? '']),
      );
      const event = text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
      return [{ type, event, code, values }];
    }),
  );
}

function codesOf(from: Standing, to: Standing): readonly LogEntry['code'][] {
  const [wasOver, isOver] = [from.findings.includes('over'), to.findings.includes('over')];
  // Success is reported once, whatever follows.
  if (statusOf(to.state) === 'success') {
    if (statusOf(from.state) === 'success') {
      if (wasOver === isOver) return [];
      return isOver ? ['overpaid'] : ['excess_lost'];
    }
    if (to.isTakenShort) return isOver ? ['accepted', 'overpaid'] : ['accepted'];
    if (to.state === 'settled_late') return isOver ? ['completed_late', 'overpaid'] : ['completed_late'];
    return isOver ? ['completed_over'] : ['completed'];
  }
  return from.state === to.state ? [] : outcomeCodes(from.state, to.state);
}

function outcomeCodes(from: PaymentState, to: PaymentState): readonly LogEntry['code'][] {
  switch (to) {
    case 'created':
    case 'currency_set':
    case 'awaiting_funds':
    case 'settled':
    case 'settled_over':
    case 'settled_late':
      return [];
    case 'partially_paid':
      return ['underpaid'];
    case 'invalid':
      return ['expired_invalid'];
    case 'cancelled_paid':
      return [from === 'cancelled' ? 'paid_after_cancel' : 'cancelled_with_funds'];
    case 'confirming':
    case 'expired':
    case 'expired_partial':
    case 'expired_late':
    case 'reversed':
    case 'cancelled':
      return [to];
    default:
      return to satisfies never;
  }
}
