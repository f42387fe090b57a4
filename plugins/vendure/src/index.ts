/** The entry of the package: the plugin, its payment handler, and the event of a refund's link. */
export { cryptoCheckoutHandler } from './handler.js';
export { CryptoPayment } from './crypto-payment.entity.js';
export { CryptoCheckoutPlugin } from './plugin.js';
export { CryptoRefundEvent } from './refund-event.js';
