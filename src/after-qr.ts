/** The views that a payer needs only after the QR code, or on another visit. The element loads them by themselves. */
export { resultOfCheck } from './checkout/check.js';
export { copyText } from './checkout/clipboard.js';
export { PageTitle } from './checkout/page-title.js';
export { problemOf } from './messages/problems.js';
export { confirmingView } from './views/confirming.js';
export { endedView } from './views/ended.js';
export { phonePanel } from './views/phone.js';
export { questionPanel } from './views/question.js';
export { afterQrStyles } from './views/after-qr.styles.js';
export { timeLog } from './views/time-log.js';
export { timeUpView } from './views/time-up.js';
export { wrongAssets } from './views/wrong-assets.js';
