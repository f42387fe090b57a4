/** What a running payment needs but the pay button does not. The element loads it when a payment starts. */
export { CheckoutController } from './checkout/controller.js';
export { readLastChoice } from './checkout/last-choice.js';
export { flowStyles } from './views/flow.styles.js';
export { viewOfState } from './views/view-of-state.js';
