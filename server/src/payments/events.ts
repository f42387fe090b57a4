/** Which events a merchant is told of a payment: of changes of its status, and of money that is not as it was asked for. */
import type { PaymentState, WebhookEventType } from 'crypto-checkout/contract';
import { statusOf } from './assess.js';

/** What a change of state tells, in this order; most changes on the way to an outcome tell nothing. */
export function eventsOf(from: PaymentState, to: PaymentState): readonly WebhookEventType[] {
  if (from === to) return [];
  const [before, status] = [statusOf(from), statusOf(to)];
  const events: WebhookEventType[] = [];
  if (to === 'partially_paid') events.push('payment.partial');
  if (to === 'settled_over') events.push('payment.overpaid');
  if (isLate(to) && !isLate(from) && (to !== 'cancelled_paid' || from === 'cancelled')) {
    events.push('payment.late');
  }
  // Last, so that the newest event is the outcome, which is what is sent again when a merchant asks.
  if (status !== before && status !== 'in progress') {
    events.push(before === 'success' ? 'payment.reversed' : outcomeEvent(to));
  }
  return events;
}

/** Money came after the end; of `cancelled_paid` only where the payment was cancelled without any before. */
function isLate(state: PaymentState): boolean {
  return state === 'settled_late' || state === 'expired_late' || state === 'cancelled_paid';
}

/** What tells the state a payment is in, where no event did before. */
export function outcomeEvent(state: PaymentState): WebhookEventType {
  const status = statusOf(state);
  switch (status) {
    case 'in progress':
      return 'payment.updated';
    case 'success':
      return 'payment.success';
    case 'cancelled':
      return 'payment.cancelled';
    case 'error':
      return state === 'reversed' ? 'payment.reversed' : 'payment.error';
    default:
      return status satisfies never;
  }
}
