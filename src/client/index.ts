/** The package's `crypto-checkout/client`: typed calls of the API, and the check before value is given. */
export * from './checkout-client.js';
export * from './merchant-client.js';
export type { Reply } from './request.js';
export * from './verify-payment.js';
export * from '../errors.js';
