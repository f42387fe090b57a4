/** Every handler, by resource and verb as the contract's tables name them. */
import type { Api, sandbox } from 'crypto-checkout/contract';
import { balanceHandlers } from './balances/routes.js';
import { bankAccountHandlers } from './bank-accounts/routes.js';
import { countryHandlers } from './countries/routes.js';
import { currencyHandlers } from './currencies/routes.js';
import { customerHandlers } from './customers/routes.js';
import type { Handlers } from './http/handler.js';
import { metaHandlers } from './meta/routes.js';
import { paymentPlanHandlers } from './payment-plans/routes.js';
import { paymentHandlers } from './payments/routes.js';
import { payoutHandlers } from './payouts/routes.js';
import { sandboxHandlers } from './sandbox/routes.js';
import type { Services } from './services.js';
import { subscriberHandlers } from './subscribers/routes.js';
import { transactionHandlers } from './transactions/routes.js';
import { transferHandlers } from './transfers/routes.js';
import { walletAddressHandlers } from './wallet-addresses/routes.js';
import { walletHandlers } from './wallets/routes.js';

export const handlers: Handlers<Api, Services> = {
  meta: metaHandlers,
  customers: customerHandlers,
  bankAccounts: bankAccountHandlers,
  countries: countryHandlers,
  walletAddresses: walletAddressHandlers,
  currencies: currencyHandlers,
  paymentPlans: paymentPlanHandlers,
  subscribers: subscriberHandlers,
  balances: balanceHandlers,
  transfers: transferHandlers,
  payouts: payoutHandlers,
  payments: paymentHandlers,
  transactions: transactionHandlers,
  wallets: walletHandlers,
};

/** What test mode has beside the API. */
export const testHandlers: Handlers<{ sandbox: typeof sandbox }, Services> = {
  sandbox: sandboxHandlers,
};
