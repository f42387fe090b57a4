/** Every handler that exists, by resource and verb; what the tables name beside them answers 501. */
import type { Api, sandbox } from 'crypto-checkout/contract';
import { currencyHandlers } from './currencies/routes.js';
import type { PartialHandlers } from './http/handler.js';
import { paymentHandlers } from './payments/routes.js';
import { sandboxHandlers } from './sandbox/routes.js';
import type { Services } from './services.js';
import { transactionHandlers } from './transactions/routes.js';

export const handlers: PartialHandlers<Api, Services> = {
  currencies: currencyHandlers,
  payments: paymentHandlers,
  transactions: transactionHandlers,
};

/** What test mode has beside the API. */
export const testHandlers: PartialHandlers<{ sandbox: typeof sandbox }, Services> = {
  sandbox: sandboxHandlers,
};
