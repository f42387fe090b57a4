/** Decides which webhook events a payment causes: outcomes, and what is true of its money. */
import {
  statusOf,
  type PaymentFinding,
  type PaymentState,
  type WebhookEventType,
} from 'crypto-checkout/contract';

/** A payment's state, with the findings that are true of its money in any state. */
export interface Standing {
  readonly state: PaymentState;
  readonly findings: readonly PaymentFinding[];
  /** True if it is a success only because the shop took less than was due. */
  readonly isTakenShort?: boolean;
}

/**
 * The event that each finding sends once it is found. Too little has its outcome; money that was not accepted is
 * reported each time that it comes.
 */
const eventOf: Readonly<Partial<Record<PaymentFinding, WebhookEventType>>> = {
  over: 'payment.overpaid',
  late: 'payment.late',
};

/** The events of a change, in the order in which they are sent. Most changes before an outcome have none. */
export function eventsOf(from: Standing, to: Standing): readonly WebhookEventType[] {
  const [before, status] = [statusOf(from.state), statusOf(to.state)];
  const events = to.findings.flatMap((finding) =>
    from.findings.includes(finding) ? [] : (eventOf[finding] ?? []),
  );
  if (to.state === 'partially_paid' && from.state !== to.state) events.push('payment.partial');
  // The outcome comes last, because a resend repeats the newest event.
  if (status !== before && status !== 'in progress') {
    if (to.isTakenShort) events.push('payment.accepted');
    events.push(before === 'success' ? 'payment.reversed' : outcomeEvent(to.state));
  }
  return events;
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
