/** The entry `crypto-checkout/client`: typed API clients, `verifyPayment` and `verifyWebhook`. */
export * from './check-transfer.js';
export * from './checkout-client.js';
export * from './merchant-client.js';
export type { Connection, Reply } from './request.js';
export { isTransient } from './retry.js';
export * from './verify-payment.js';
export * from './verify-webhook.js';
export * from '../errors.js';
