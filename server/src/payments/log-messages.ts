/** The sentences that a payment's log is written in, and the texts that a payment is made of. */
import type { PaymentState } from 'crypto-checkout/contract';
import { invalidField } from '../shared/problem.js';
import type { NewLogEntry } from './store.js';
import type { Mode } from '../shared/scope.js';

/** Sums of a locked payment, as plain decimals in its currency. */
export interface Sums {
  readonly currency: string;
  readonly amount: string;
  readonly confirmed: string;
  readonly excess: string;
  readonly seen: string;
  readonly confirmations: number;
}

export function payerName(payer: { fullName?: string | undefined; email?: string | undefined }): string {
  return payer.fullName || payer.email || 'anonymous';
}

/** What a change of state says in the log; nothing where the happening that led to it says it all. */
export function describeTransition(
  from: PaymentState,
  to: PaymentState,
  sums: Sums | undefined,
): readonly NewLogEntry[] {
  if (from === to) return [];
  const of = (amount: string) => `${amount} ${sums?.currency ?? ''}`.trim();
  const received = of(sums?.confirmed ?? '0');
  const progress = `${sums?.confirmed ?? '0'} of ${of(sums?.amount ?? '0')}`;
  const entry = (type: NewLogEntry['type'], event: string) => [{ type, event }];
  switch (to) {
    case 'created':
    case 'currency_set':
    case 'awaiting_funds':
      return [];
    case 'partially_paid':
      return entry('event', `Underpaid so far: ${sums?.seen ?? '0'} of ${of(sums?.amount ?? '0')} seen`);
    case 'confirming':
      return entry('event', `Full amount seen, waiting for ${sums?.confirmations ?? 0} confirmations`);
    case 'settled':
      return entry('success', `Payment complete: ${received} received`);
    case 'settled_over':
      return from === 'settled'
        ? entry('event', `Overpaid by ${of(sums?.excess ?? '0')}; the merchant has the excess`)
        : entry(
            'success',
            `Payment complete: ${received} received, ${of(sums?.excess ?? '0')} more than due; the merchant has the excess`,
          );
    case 'settled_late':
      return entry('success', `Paid late but in full, and accepted: ${received} received`);
    case 'expired':
      return entry('error', 'Payment expired: nothing arrived in time');
    case 'expired_partial':
      return entry('error', `Payment expired with ${progress} received; the merchant has them`);
    case 'expired_late':
      return entry('error', `Paid late: ${progress} received, not accepted; the merchant has them`);
    case 'invalid':
      return entry('error', 'Payment expired: what arrived was not what was asked for; the merchant has it');
    case 'reversed':
      return entry('error', 'A confirmed transfer left the chain: the payment is no longer complete');
    case 'cancelled':
      return entry('event', 'Payment cancelled');
    case 'cancelled_paid':
      return from === 'cancelled'
        ? entry('event', 'Funds arrived after the payment was cancelled; the merchant has them')
        : entry('event', 'Payment cancelled; the merchant has what arrived');
    default:
      return to satisfies never;
  }
}

/**
 * The references of subscriptions' payments are made by billing. Payers read them, and could take those of the
 * cycles to come, which then could not be charged.
 */
export function checkReference(txRef: string | undefined): string | undefined {
  if (txRef !== undefined && /^sub_[0-9A-HJKMNP-TV-Z]{26}_\d+$/.test(txRef)) {
    throw invalidField('txRef', 'Is a reference as only the payments of subscriptions have');
  }
  return txRef;
}

const localHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/** A redirect goes to an https page, or nowhere; in test mode also to a developer's own machine. */
export function checkRedirectUrl(text: string, mode: Mode): string {
  if (text === '') return '';
  const url = URL.parse(text);
  if (!url) throw invalidField('redirectUrl', 'Must be an absolute https URL, or empty');
  if (url.username !== '' || url.password !== '') {
    throw invalidField('redirectUrl', 'Must not contain a user name or a password');
  }
  const isLocalTest = mode === 'test' && url.protocol === 'http:' && localHosts.has(url.hostname);
  if (url.protocol !== 'https:' && !isLocalTest) {
    throw invalidField('redirectUrl', 'Must be an absolute https URL, or empty');
  }
  return text;
}
