/** The events that `<crypto-checkout>` fires. */
import type { Payment } from './contract/checkout.js';
import type { CheckoutError } from './errors.js';

/** A step of the payment. Use it for display only: the merchant's server must verify the payment itself. */
export class CheckoutEvent extends Event {
  /** The payment at that moment; undefined if there is none yet. */
  readonly payment: Payment | undefined;

  constructor(type: CheckoutEventType, payment: Payment | undefined) {
    super(type, { bubbles: true, composed: true });
    this.payment = payment;
  }
}

/** The payment failed, or could not be started: in that case, `error` says why. */
export class CheckoutErrorEvent extends CheckoutEvent {
  readonly error: CheckoutError | undefined;

  constructor(payment: Payment | undefined, error: CheckoutError | undefined) {
    super('checkout-error', payment);
    this.error = error;
  }
}

/**
 * All events with their classes. The types, the React component, and with `npm run manifest` the docs and `custom-elements.json`
 * are made from this list and its comments.
 */
export const checkoutEvents = {
  /** The element is drawn and ready to start a payment. A listener that is added later misses it; then read `status`. */
  'checkout-ready': CheckoutEvent,
  /** A payment was created. */
  'checkout-created': CheckoutEvent,
  /** The payer chose a currency and network. */
  'checkout-currency-set': CheckoutEvent,
  /** Amount and address are fixed. */
  'checkout-locked': CheckoutEvent,
  /** The first funds were seen; they are not confirmed yet. */
  'checkout-detected': CheckoutEvent,
  /** Funds arrived, but less than the amount due. */
  'checkout-partial': CheckoutEvent,
  /** The full amount was seen and is being confirmed. */
  'checkout-confirming': CheckoutEvent,
  /** The payment is complete. A page that shows a paid order again fires it again. */
  'checkout-success': CheckoutEvent,
  /** The payment failed, or could not be started; then `error` says why. Mistakes in the tag fire nothing: the card and the console name them. */
  'checkout-error': CheckoutErrorEvent,
  /** The time to pay ran out. */
  'checkout-expired': CheckoutEvent,
  /** The payment was cancelled. */
  'checkout-cancelled': CheckoutEvent,
  /** The modal was closed. The payment continues, if there is one. */
  'checkout-closed': CheckoutEvent,
} as const;

type Events = typeof checkoutEvents;
export type CheckoutEventType = keyof Events;
export type CheckoutEventMap = { [Type in CheckoutEventType]: InstanceType<Events[Type]> };
