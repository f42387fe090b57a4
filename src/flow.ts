/** What a running payment needs but the pay button does not. The element loads it when a payment starts. */
export { copyText } from './checkout/clipboard.js';
export { CheckoutController } from './checkout/controller.js';
export { viewOfState } from './views/view-of-state.js';
