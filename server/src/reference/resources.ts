/** The title and description of each API resource, for the docs. */
import type { Api } from 'crypto-checkout/contract';

export interface Resource {
  readonly title: string;
  readonly description: string;
}

/** In the order of the contract's table; the sandbox has a table of its own. */
export const resources: Readonly<Record<keyof Api | 'sandbox', Resource>> = {
  meta: {
    title: 'Quick docs',
    description: 'The API describes its own endpoints: insert /meta after /v1 in any path.',
  },
  customers: {
    title: 'Customers',
    description: 'The people who pay you, one record per email address.',
  },
  bankAccounts: {
    title: 'Bank accounts',
    description: 'The bank accounts that receive your payouts, and the banks that are supported.',
  },
  countries: {
    title: 'Countries',
    description: 'Reference data: the countries that are supported for bank accounts.',
  },
  balances: {
    title: 'Balances',
    description: 'What your account holds in each currency.',
  },
  currencies: {
    title: 'Currencies',
    description: 'Reference data: the supported currencies and their networks.',
  },
  paymentPlans: {
    title: 'Payment plans',
    description: 'Recurring billing: how much to charge, how often, and how many times.',
  },
  subscribers: {
    title: 'Payment plan subscribers',
    description: 'Which customer is subscribed to which plan, and how many times they have paid.',
  },
  walletAddresses: {
    title: 'Wallet addresses',
    description: 'Your own addresses, saved as destinations for transfers.',
  },
  transfers: {
    title: 'Transfers',
    description: 'Withdrawals from a balance to a wallet address.',
  },
  payouts: {
    title: 'Payouts',
    description: 'Money paid out to your bank accounts and wallet addresses. Read-only.',
  },
  payments: {
    title: 'Payments',
    description:
      'Your page or server creates a payment, sets its currency and locks it; then the customer pays.',
  },
  refunds: {
    title: 'Refunds',
    description: 'Money of a payment that goes back to its payer: started, approved and followed.',
  },
  refundClaims: {
    title: 'Refund claims',
    description: 'What the claim page calls for a payer. The token of its link takes the place of a key.',
  },
  transactions: {
    title: 'Transactions',
    description: 'The same records as payments, as your server sees them: verify them, and look up fees.',
  },
  wallets: {
    title: 'Hosted wallets',
    description: 'Permanent deposit addresses, one on each network of a currency.',
  },
  webhooks: {
    title: 'Webhooks',
    description: 'The events that your server was sent, with its answers: look them up, and send them again.',
  },
  home: {
    title: 'Home',
    description: 'What waits for a person, what was sold, and whether the networks work.',
  },
  sandbox: {
    title: 'Sandbox',
    description:
      'Controls the simulated networks and the clock of test mode. These paths do not exist for live keys.',
  },
};
