/** The events that `<crypto-checkout>` fires, and which of them a change of state calls for. */
import type { Payment } from './contract/checkout.js';
import type { CheckoutError } from './errors.js';
import type { CheckoutState } from './state.js';

export type CheckoutEventType =
  | 'checkout-ready'
  | 'checkout-created'
  | 'checkout-currency-set'
  | 'checkout-locked'
  | 'checkout-detected'
  | 'checkout-partial'
  | 'checkout-confirming'
  | 'checkout-success'
  | 'checkout-error'
  | 'checkout-expired'
  | 'checkout-cancelled';

/** Something that the payment went through. A page may show it; only the merchant's server may believe it. */
export class CheckoutEvent extends Event {
  constructor(
    type: CheckoutEventType,
    /** The payment as it was then; undefined while there is none. */
    readonly payment: Payment | undefined,
  ) {
    super(type, { bubbles: true, composed: true });
  }
}

/** The payment ended in an error, or none could be started: then `error` says why. */
export class CheckoutErrorEvent extends CheckoutEvent {
  constructor(
    payment: Payment | undefined,
    readonly error: CheckoutError | undefined,
  ) {
    super('checkout-error', payment);
  }
}

export interface CheckoutEventMap extends Record<CheckoutEventType, CheckoutEvent> {
  'checkout-error': CheckoutErrorEvent;
}

const eventOfStatus: Partial<Record<CheckoutState['name'], CheckoutEventType>> = {
  'partially-paid': 'checkout-partial',
  confirming: 'checkout-confirming',
  success: 'checkout-success',
  expired: 'checkout-expired',
  cancelled: 'checkout-cancelled',
};

/** What tells of a payment that is taken up again before anything was seen of it. */
const eventOfFoundStatus: Partial<Record<CheckoutState['name'], CheckoutEventType>> = {
  quoted: 'checkout-currency-set',
  'awaiting-funds': 'checkout-locked',
};

/**
 * The events of one step, in the order in which the payment went through them. Of a payment that is taken up
 * again only the state it is found in is told, since the rest did not happen now.
 */
export function eventsOf(from: CheckoutState, to: CheckoutState): CheckoutEvent[] {
  const { payment } = to;
  const before = from.payment;
  const hasEntered = from.name !== to.name;
  const isNewlySeen = before !== undefined && payment !== undefined && received(before) !== received(payment);
  const calls: [boolean | undefined, CheckoutEventType | undefined][] = [
    [from.name === 'creating' && from.paymentId === undefined && payment !== undefined, 'checkout-created'],
    [before && payment?.currency ? isNewChoice(before, payment) : false, 'checkout-currency-set'],
    [before && !before.isCurrencyLocked && payment?.isCurrencyLocked, 'checkout-locked'],
    [isNewlySeen && received(before) === 0, 'checkout-detected'],
    // A top-up that is still too little is a partial payment once more.
    [hasEntered || (to.name === 'partially-paid' && isNewlySeen), eventOfStatus[to.name]],
    [before === undefined && payment !== undefined, eventOfFoundStatus[to.name]],
  ];
  const events = calls.flatMap(([isCalledFor, type]) =>
    isCalledFor && type ? [new CheckoutEvent(type, payment)] : [],
  );
  if (to.name === 'error' && hasEntered) {
    events.push(new CheckoutErrorEvent(payment, 'problem' in to ? to.problem : undefined));
  }
  return events;
}

function isNewChoice(before: Payment, payment: Payment): boolean {
  return before.currency !== payment.currency || before.currencyNetwork !== payment.currencyNetwork;
}

/** What was seen of the payment so far, in the paying currency. */
function received(payment: Payment): number {
  return payment.amountSeen ?? payment.amountReceived ?? 0;
}
