/** All that a running payment needs and a waiting button does not: the element loads it when a payment starts. */
export { CheckoutController } from './checkout-controller.js';
export { copyText } from './copy.js';
export { viewOfState } from './views/view-of-state.js';
