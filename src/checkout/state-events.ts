/** The events that a state change fires. */
import type { Payment } from '../contract/checkout.js';
import { CheckoutErrorEvent, CheckoutEvent, type CheckoutEventType } from '../events.js';
import type { CheckoutState } from './state.js';

const eventOfStatus: Partial<Record<CheckoutState['name'], CheckoutEventType>> = {
  'partially-paid': 'checkout-partial',
  confirming: 'checkout-confirming',
  success: 'checkout-success',
  expired: 'checkout-expired',
  cancelled: 'checkout-cancelled',
};

/** For a payment that is resumed in one of these states. */
const eventOfResumedStatus: Partial<Record<CheckoutState['name'], CheckoutEventType>> = {
  quoted: 'checkout-currency-set',
  'awaiting-funds': 'checkout-locked',
};

/**
 * The events that a state change fires, in the order in which the payment reached them. A resumed payment fires only
 * the event of its current state: the earlier ones happened before.
 */
export function eventsOf(from: CheckoutState, to: CheckoutState): CheckoutEvent[] {
  const { payment } = to;
  // A payment that stays after all existed before.
  const kept = from.name === 'creating' && from.previous?.id === payment?.id ? from.previous : undefined;
  const before = from.payment ?? kept;
  const hasEntered = from.name !== to.name;
  const hasNewFunds = before !== undefined && payment !== undefined && received(before) !== received(payment);
  const candidates: [boolean | undefined, CheckoutEventType | undefined][] = [
    [from.name === 'creating' && !from.paymentId && payment && !kept, 'checkout-created'],
    [before && payment?.currency ? isNewChoice(before, payment) : false, 'checkout-currency-set'],
    [before && !before.isCurrencyLocked && payment?.isCurrencyLocked, 'checkout-locked'],
    [hasNewFunds && received(before) === 0, 'checkout-detected'],
    // A top-up that is still not enough is another partial payment.
    [hasEntered || (to.name === 'partially-paid' && hasNewFunds), eventOfStatus[to.name]],
    [before === undefined && payment !== undefined, eventOfResumedStatus[to.name]],
  ];
  const events = candidates.flatMap(([isDue, type]) =>
    isDue && type ? [new CheckoutEvent(type, payment)] : [],
  );
  if (to.name === 'error' && hasEntered) {
    events.push(new CheckoutErrorEvent(payment, 'problem' in to ? to.problem : undefined));
  }
  return events;
}

/**
 * The event of the state that a payment is in, for a listener that came after it was fired; undefined if there is none.
 */
export function eventOf(
  status: CheckoutState['name'],
  payment: Payment | undefined,
): CheckoutEvent | undefined {
  if (status === 'error') return new CheckoutErrorEvent(payment, undefined);
  const type = eventOfStatus[status] ?? eventOfResumedStatus[status];
  return type && payment && new CheckoutEvent(type, payment);
}

function isNewChoice(before: Payment, payment: Payment): boolean {
  return before.currency !== payment.currency || before.currencyNetwork !== payment.currencyNetwork;
}

/** Amount received so far, in the paying currency. */
function received(payment: Payment): number {
  return payment.amountSeen ?? payment.amountReceived ?? 0;
}
