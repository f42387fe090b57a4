/** The messages of a payment's time log, which payers and merchants read. */
import { statusOf, type PaymentState } from 'crypto-checkout/contract';
import type { NewLogEntry } from './store.js';

/** The sums of a payment, as plain decimals in its currency. */
export interface Sums {
  readonly currency: string;
  readonly amount: string;
  readonly confirmed: string;
  readonly excess: string;
  readonly seen: string;
  readonly confirmations: number;
}

/** The log entries for a change of state; none if its cause is already logged. */
export function describeTransition(
  from: PaymentState,
  to: PaymentState,
  sums: Sums | undefined,
): readonly NewLogEntry[] {
  if (from === to) return [];
  const { currency = '', amount = '0', confirmed = '0', excess = '0', seen = '0' } = sums ?? {};
  const of = (value: string) => `${value} ${currency}`.trim();
  const received = of(confirmed);
  const progress = `${confirmed} of ${of(amount)}`;
  const entry = (
    type: NewLogEntry['type'],
    code: NewLogEntry['code'],
    event: string,
    values: NewLogEntry['values'] = {},
  ) => [{ type, event, code, values }];
  // Success is reported once, however it goes on.
  const wasSuccess = statusOf(from) === 'success';
  switch (to) {
    case 'created':
    case 'currency_set':
    case 'awaiting_funds':
      return [];
    case 'partially_paid':
      return entry('event', 'underpaid', `Underpaid so far: ${seen} of ${of(amount)} seen`, {
        seen,
        amount,
        currency,
      });
    case 'confirming': {
      const confirmations = String(sums?.confirmations ?? 0);
      return entry('event', 'confirming', `Full amount seen, waiting for ${confirmations} confirmations`, {
        confirmations,
      });
    }
    case 'settled':
      if (wasSuccess && from !== 'settled_over') return [];
      return wasSuccess
        ? entry('event', 'excess_lost', `The excess left the chain: ${received} received`, {
            received: confirmed,
            currency,
          })
        : entry('success', 'completed', `Payment complete: ${received} received`, {
            received: confirmed,
            currency,
          });
    case 'settled_over':
      return wasSuccess
        ? entry('event', 'overpaid', `Overpaid by ${of(excess)}; the excess goes to the merchant`, {
            excess,
            currency,
          })
        : entry(
            'success',
            'completed_over',
            `Payment complete: ${received} received, ${of(excess)} more than due; the excess goes to the merchant`,
            { received: confirmed, excess, currency },
          );
    case 'settled_late':
      return wasSuccess
        ? []
        : entry('success', 'completed_late', `Paid late but in full, and accepted: ${received} received`, {
            received: confirmed,
            currency,
          });
    case 'expired':
      return entry('error', 'expired', 'Payment expired: nothing arrived in time');
    case 'expired_partial':
      return entry(
        'error',
        'expired_partial',
        `Payment expired with ${progress} received; the funds go to the merchant`,
        { received: confirmed, amount, currency },
      );
    case 'expired_late':
      return entry(
        'error',
        'expired_late',
        `Paid late: ${progress} received, not accepted; the funds go to the merchant`,
        { received: confirmed, amount, currency },
      );
    case 'invalid':
      return entry(
        'error',
        'expired_invalid',
        'Payment expired: the funds came in the wrong currency or on the wrong network; they go to the merchant',
      );
    case 'reversed':
      return entry(
        'error',
        'reversed',
        'A confirmed transfer left the chain: the payment is no longer complete',
      );
    case 'cancelled':
      return entry('event', 'cancelled', 'Payment cancelled');
    case 'cancelled_paid':
      return from === 'cancelled'
        ? entry(
            'event',
            'paid_after_cancel',
            'Funds arrived after the payment was cancelled; they go to the merchant',
          )
        : entry(
            'event',
            'cancelled_with_funds',
            'Payment cancelled; the funds that arrived go to the merchant',
          );
    default:
      return to satisfies never;
  }
}
