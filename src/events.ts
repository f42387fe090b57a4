/** The events that `<crypto-checkout>` fires. */
import type { Payment } from './contract/checkout.js';
import type { CheckoutError } from './errors.js';

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
  | 'checkout-cancelled'
  | 'checkout-closed';

/** A step of the payment. Use it for display only: the merchant's server must verify the payment itself. */
export class CheckoutEvent extends Event {
  constructor(
    type: CheckoutEventType,
    /** The payment at that moment; undefined if there is none yet. */
    readonly payment: Payment | undefined,
  ) {
    super(type, { bubbles: true, composed: true });
  }
}

/** The payment failed, or could not be started: in that case, `error` says why. */
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
