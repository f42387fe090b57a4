/** Defines `<crypto-checkout>`. Safe to import twice, and on a server without a window. */
import { CryptoCheckout } from './crypto-checkout.js';

if (typeof window !== 'undefined' && !customElements.get('crypto-checkout')) {
  customElements.define('crypto-checkout', CryptoCheckout);
}

export { CryptoCheckout };
export type { CheckoutStatus } from './checkout/state.js';
export { ApiError, CheckoutError, NetworkError, ReplyError } from './errors.js';
export type { ApiErrorCode, ApiErrorDetails, CheckoutErrorDetails, FieldError } from './errors.js';
export {
  CheckoutErrorEvent,
  CheckoutEvent,
  checkoutEvents,
  type CheckoutEventMap,
  type CheckoutEventType,
} from './events.js';
export type { Payment } from './contract/checkout.js';
export type { Messages } from './messages/en.js';
