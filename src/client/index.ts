/** The package's `crypto-checkout/client`: typed calls of the API, and the checks before value is given. */
export * from './checkout-client.js';
export * from './merchant-client.js';
export type { Connection, Reply } from './request.js';
export type { RetryOptions } from './retry.js';
export * from './verify-payment.js';
export * from './verify-webhook.js';
export * from '../errors.js';
