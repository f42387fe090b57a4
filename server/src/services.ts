/** What handlers may ask for: the rules, resource by resource. */
import type { Balances } from './balances/balances.js';
import type { BankAccounts } from './bank-accounts/bank-accounts.js';
import type { Countries } from './countries/countries.js';
import type { Currencies } from './currencies/currencies.js';
import type { Customers } from './customers/customers.js';
import type { Keys } from './keys/keys.js';
import type { Merchants } from './merchants/merchants.js';
import type { PaymentPlans } from './payment-plans/payment-plans.js';
import type { Payments } from './payments/payments.js';
import type { Payouts } from './payouts/payouts.js';
import type { Sandbox } from './sandbox/sandbox.js';
import type { Subscribers } from './subscribers/subscribers.js';
import type { Transfers } from './transfers/transfers.js';
import type { WalletAddresses } from './wallet-addresses/wallet-addresses.js';
import type { Wallets } from './wallets/wallets.js';

export interface Services {
  readonly keys: Keys;
  readonly merchants: Merchants;
  readonly customers: Customers;
  readonly bankAccounts: BankAccounts;
  readonly countries: Countries;
  readonly walletAddresses: WalletAddresses;
  readonly currencies: Currencies;
  readonly paymentPlans: PaymentPlans;
  readonly subscribers: Subscribers;
  readonly balances: Balances;
  readonly transfers: Transfers;
  readonly payouts: Payouts;
  readonly payments: Payments;
  readonly sandbox: Sandbox;
  readonly wallets: Wallets;
  /** Where the hosted pages are: `{checkoutUrl}/{payment id}`. Known once the server listens. */
  readonly checkoutUrl: string;
}
