/** Defines `<crypto-checkout>`. Importing it twice, or where there is no window, does no harm. */
import { CryptoCheckout } from './crypto-checkout.js';

if (typeof window !== 'undefined' && !customElements.get('crypto-checkout')) {
  customElements.define('crypto-checkout', CryptoCheckout);
}

export { CryptoCheckout };
export * from './errors.js';
export {
  CheckoutErrorEvent,
  CheckoutEvent,
  type CheckoutEventMap,
  type CheckoutEventType,
} from './events.js';
export type { Payment } from './contract/checkout.js';
export type { Messages } from './messages/en.js';
export type { CheckoutStatus } from './state.js';
