/** The title and description of each API resource, for the docs. */
import type { Api } from 'crypto-checkout/contract';

export interface Resource {
  readonly title: string;
  /** One of them, for titles such as `Create payment`. */
  readonly noun: string;
  readonly description: string;
}

/** In the order of the docs: payments first, and last what describes and simulates. The sandbox has a table of its own. */
export const resources: Readonly<Record<keyof Api | 'sandbox', Resource>> = {
  payments: {
    title: 'Payments',
    noun: 'payment',
    description:
      'Your page or server creates a payment, sets its currency and locks it; then the customer pays.',
  },
  transactions: {
    title: 'Transactions',
    noun: 'transaction',
    description: 'The same records as payments, as your server sees them: verify them, and look up fees.',
  },
  refunds: {
    title: 'Refunds',
    noun: 'refund',
    description: 'Money of a payment that goes back to its payer: started, approved and followed.',
  },
  refundClaims: {
    title: 'Refund claims',
    noun: 'refund claim',
    description: 'What the claim page calls for a payer. The token of its link takes the place of a key.',
  },
  customers: {
    title: 'Customers',
    noun: 'customer',
    description: 'The people who pay you, one record per email address.',
  },
  transfers: {
    title: 'Transfers',
    noun: 'transfer',
    description: 'Withdrawals from a balance to a wallet address.',
  },
  payouts: {
    title: 'Payouts',
    noun: 'payout',
    description: 'Money paid out to your bank accounts and wallet addresses. Read-only.',
  },
  balances: {
    title: 'Balances',
    noun: 'balance',
    description: 'What your account holds in each currency.',
  },
  walletAddresses: {
    title: 'Wallet addresses',
    noun: 'wallet address',
    description: 'Your own addresses, saved as destinations for transfers.',
  },
  bankAccounts: {
    title: 'Bank accounts',
    noun: 'bank account',
    description: 'The bank accounts that receive your payouts, and the banks that are supported.',
  },
  paymentPlans: {
    title: 'Payment plans',
    noun: 'payment plan',
    description: 'Recurring billing: how much to charge, how often, and how many times.',
  },
  subscribers: {
    title: 'Payment plan subscribers',
    noun: 'subscriber',
    description: 'Which customer is subscribed to which plan, and how many times they have paid.',
  },
  wallets: {
    title: 'Hosted wallets',
    noun: 'hosted wallet',
    description: 'Permanent deposit addresses, one on each network of a currency.',
  },
  webhooks: {
    title: 'Webhooks',
    noun: 'webhook',
    description: 'The events that your server was sent, with its answers: look them up, and send them again.',
  },
  currencies: {
    title: 'Currencies',
    noun: 'currency',
    description: 'Reference data: the supported currencies and their networks.',
  },
  countries: {
    title: 'Countries',
    noun: 'country',
    description: 'Reference data: the countries that are supported for bank accounts.',
  },
  home: {
    title: 'Home',
    noun: 'home',
    description: 'What waits for a person, what was sold, and whether the networks work.',
  },
  meta: {
    title: 'Quick docs',
    noun: 'endpoint',
    description: 'The API describes its own endpoints: insert /meta after /v1 in any path.',
  },
  sandbox: {
    title: 'Sandbox',
    noun: 'in the sandbox',
    description:
      'Controls the simulated networks and the clock of test mode. These paths do not exist for live keys.',
  },
};
