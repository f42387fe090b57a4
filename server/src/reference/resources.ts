/** What each resource of the API is, for those who read about it. */
import type { Api } from 'crypto-checkout/contract';

export interface Resource {
  readonly title: string;
  readonly description: string;
}

/** In the order of the contract's table; the sandbox has a table of its own. */
export const resources: Readonly<Record<keyof Api | 'sandbox', Resource>> = {
  meta: {
    title: 'Quick docs',
    description: 'Every endpoint described by the API itself: insert /meta after /v1 in its path.',
  },
  customers: {
    title: 'Customers',
    description: 'The people you are paid by, one record per email.',
  },
  bankAccounts: {
    title: 'Bank accounts',
    description: 'The bank accounts you are settled to, and the banks they may be held at.',
  },
  countries: {
    title: 'Countries',
    description: 'Reference data: the countries that bank accounts may be held in.',
  },
  balances: {
    title: 'Balances',
    description: 'What the account holds, currency by currency.',
  },
  currencies: {
    title: 'Currencies',
    description: 'Reference data: the currencies and networks that other records name.',
  },
  paymentPlans: {
    title: 'Payment plans',
    description: 'Recurring billing: how much is charged, how often, and how many times.',
  },
  subscribers: {
    title: 'Payment plan subscribers',
    description: 'Which customer is charged by which plan, and how often it was paid.',
  },
  walletAddresses: {
    title: 'Wallet addresses',
    description: 'Addresses of your own, saved as destinations for transfers.',
  },
  transfers: {
    title: 'Transfers',
    description: 'Withdrawals from a balance to a wallet address.',
  },
  payouts: {
    title: 'Payouts',
    description: 'What was paid out to your bank accounts and wallet addresses. Read only.',
  },
  payments: {
    title: 'Payments',
    description:
      'Created by your page or server, paid by a customer: create, set the currency, lock it, get paid.',
  },
  transactions: {
    title: 'Transactions',
    description: 'The same records as payments, seen by the server that verifies and books them.',
  },
  wallets: {
    title: 'Hosted wallets',
    description: 'Deposit addresses that stay open, one on each network of a currency.',
  },
  sandbox: {
    title: 'Sandbox',
    description:
      "The controls of test mode's simulated networks and clock. With live keys these paths do not exist.",
  },
};
