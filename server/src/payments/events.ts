/** Decides which webhook events a payment causes: outcomes, and partial, late or excess payments. */
import { statusOf, type PaymentState, type WebhookEventType } from 'crypto-checkout/contract';

/** The events of a change of state, in the order in which they are sent. Most changes before an outcome have none. */
export function eventsOf(from: PaymentState, to: PaymentState): readonly WebhookEventType[] {
  if (from === to) return [];
  const [before, status] = [statusOf(from), statusOf(to)];
  const events: WebhookEventType[] = [];
  if (to === 'partially_paid') events.push('payment.partial');
  if (to === 'settled_over') events.push('payment.overpaid');
  if (isLate(to) && !isLate(from) && (to !== 'cancelled_paid' || from === 'cancelled')) {
    events.push('payment.late');
  }
  // The outcome comes last, because a resend repeats the newest event.
  if (status !== before && status !== 'in progress') {
    events.push(before === 'success' ? 'payment.reversed' : outcomeEvent(to));
  }
  return events;
}

/** Whether money came after the end. `cancelled_paid` is late only if nothing had arrived before the cancellation. */
function isLate(state: PaymentState): boolean {
  return state === 'settled_late' || state === 'expired_late' || state === 'cancelled_paid';
}

/** The event that reports a state, for a payment without an up-to-date event. */
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
