/** The messages of a payment's time log, which payers and merchants read. */
import type { PaymentState } from 'crypto-checkout/contract';
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
      if (from === 'settled_over') {
        return entry('event', `The excess left the chain: ${received} received`);
      }
      return entry('success', `Payment complete: ${received} received`);
    case 'settled_over':
      return from === 'settled'
        ? entry('event', `Overpaid by ${of(sums?.excess ?? '0')}; the excess goes to the merchant`)
        : entry(
            'success',
            `Payment complete: ${received} received, ${of(sums?.excess ?? '0')} more than due; the excess goes to the merchant`,
          );
    case 'settled_late':
      return entry('success', `Paid late but in full, and accepted: ${received} received`);
    case 'expired':
      return entry('error', 'Payment expired: nothing arrived in time');
    case 'expired_partial':
      return entry('error', `Payment expired with ${progress} received; the funds go to the merchant`);
    case 'expired_late':
      return entry('error', `Paid late: ${progress} received, not accepted; the funds go to the merchant`);
    case 'invalid':
      return entry(
        'error',
        'Payment expired: the funds came in the wrong currency or on the wrong network; they go to the merchant',
      );
    case 'reversed':
      return entry('error', 'A confirmed transfer left the chain: the payment is no longer complete');
    case 'cancelled':
      return entry('event', 'Payment cancelled');
    case 'cancelled_paid':
      return from === 'cancelled'
        ? entry('event', 'Funds arrived after the payment was cancelled; they go to the merchant')
        : entry('event', 'Payment cancelled; the funds that arrived go to the merchant');
    default:
      return to satisfies never;
  }
}
