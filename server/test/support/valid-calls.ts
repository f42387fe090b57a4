/** A valid call of every endpoint, for tests that call them all. A new endpoint does not compile without one. */
import type { MerchantCall } from 'crypto-checkout/client';
import type { Api, Endpoint, NamedEndpoint } from 'crypto-checkout/contract';
import type { Records } from './records.js';
import { encodePath, fillPath } from './routes.js';

/** A valid call of each endpoint. It creates the records that the call needs. */
export const validCalls: {
  readonly [Resource in keyof Api]: {
    readonly [Verb in keyof Api[Resource]]: (
      records: Records,
    ) => Api[Resource][Verb] extends Endpoint
      ? MerchantCall<Api[Resource][Verb]> | Promise<MerchantCall<Api[Resource][Verb]>>
      : never;
  };
} = {
  meta: { retrieve: () => ({ params: { endpoint: 'transfers/fee' } }) },
  customers: {
    async list(records) {
      await records.customer();
      return { query: { isBlackListed: 'false' } };
    },
    retrieve: async (records) => ({ params: { customer_id: (await records.customer()).id } }),
    create: (records) => ({ body: { email: records.email(), fullName: 'Ada Example' } }),
    update: async (records) => ({
      params: { customer_id: (await records.customer()).id },
      body: { fullName: 'Ada Sample', isBlacklisted: 'true' },
    }),
  },
  bankAccounts: {
    checkName: () => ({ body: { accountNumber: '0123456785', accountBank: '058' } }),
    create: (records) => ({ body: records.bankAccountBody() }),
    async list(records) {
      await records.bankAccount();
      return { query: { currency: 'KES', page: 1, skip: '10' } };
    },
    retrieve: async (records) => ({ params: { bank_account_id: await records.bankAccount() } }),
    makePrimary: async (records) => ({ params: { bank_account_id: await records.bankAccount() } }),
    archive: async (records) => ({ params: { bank_account_id: await records.bankAccount() } }),
    listBanks: () => ({ params: { country_code: 'NG' } }),
  },
  countries: { list: () => ({}) },
  balances: { list: () => ({}) },
  currencies: { list: () => ({}) },
  paymentPlans: {
    listFrequencies: () => ({}),
    create: () => ({
      body: {
        frequency: 'weekly',
        planName: 'Example membership',
        numberOfTimesToCharge: '12',
        amount: '5000',
        currency: 'NGN',
        currencies: ['USDT'],
      },
    }),
    async list(records) {
      await records.plan();
      return { query: { currency: 'ngn' } };
    },
    retrieve: async (records) => ({ params: { payment_plan_id: await records.plan() } }),
    update: async (records) => ({
      params: { payment_plan_id: await records.plan() },
      body: { amount: 6000, isActive: false },
    }),
  },
  subscribers: {
    create: async (records) => ({
      params: { payment_plan_id: await records.plan() },
      body: { email: records.email() },
    }),
    async list(records) {
      const { email } = await records.subscriber();
      return { query: { customer: email, isActive: true } };
    },
    retrieve: async (records) => ({
      params: { payment_plan_subscriber_id: (await records.subscriber()).id },
    }),
    remove: async (records) => ({ params: { payment_plan_subscriber_id: (await records.subscriber()).id } }),
  },
  walletAddresses: {
    create: (records) => ({ body: { address: records.evmAddress(), currency: 'USDC', network: 'base' } }),
    async list(records) {
      await records.walletAddress();
      return { query: { label: 'Treasury' } };
    },
    retrieve: async (records) => ({ params: { wallet_address_id: await records.walletAddress() } }),
    makePrimary: async (records) => ({ params: { wallet_address_id: await records.walletAddress() } }),
  },
  transfers: {
    async create(records) {
      await records.paidPayment('ethereum');
      const walletAddress = await records.walletAddress();
      return { body: { amount: 0.5, currency: 'USDT', walletAddress } };
    },
    quoteFee: (records) => ({
      body: {
        amount: 3,
        currency: 'USDT',
        walletAddress: records.evmAddress(),
        walletNetwork: 'ethereum',
      },
    }),
    retrieve: async (records) => ({ params: { transfer_id: await records.transfer() } }),
    async list(records) {
      await records.transfer();
      return {};
    },
  },
  payouts: {
    async list(records) {
      const { walletAddressId } = await records.payout();
      return { query: { address: walletAddressId, sort: 'amount', isAscending: true, minAmount: '0.1' } };
    },
    retrieve: async (records) => ({ params: { payout_id: (await records.payout()).id } }),
  },
  books: { list: () => ({ query: { month: '2026-12', zone: 'Europe/Berlin', limit: '10' } }) },
  payments: {
    create: (records) => ({
      body: { amount: 5000, baseCurrency: 'NGN', customer: { email: records.email(), name: 'Ada Example' } },
    }),
    retrieve: async (records) => ({ params: { payment_id: await records.payment() } }),
    cancel: async (records) => ({ params: { payment_id: await records.payment() } }),
    setCurrency: async (records) => ({
      params: { payment_id: await records.payment(), currency: 'usdt', network: 'TRON' },
    }),
    lockCurrency: async (records) => ({ params: { payment_id: await records.setPayment() } }),
    checkTransfer: async (records) => ({
      params: { payment_id: (await records.lockedPayment()).id, hash: 'ab'.repeat(32) },
    }),
  },
  refunds: {
    create: async (records) => ({
      params: { payment_id: await records.paidPayment('ethereum') },
      body: { kind: 'partial', amount: '0.5', reason: 'One item was sold out' },
    }),
    quote: async (records) => ({ params: { payment_id: await records.paidPayment('ethereum') } }),
    async list(records) {
      await records.refund();
      return { query: { status: 'awaiting_address', currency: 'usdt' } };
    },
    retrieve: async (records) => ({ params: { refund_id: (await records.refund()).id } }),
    approve: async (records) => ({
      params: { refund_id: (await records.refund({ address: records.evmAddress() })).id },
      body: {},
    }),
    cancel: async (records) => ({ params: { refund_id: (await records.refund()).id } }),
    link: async (records) => ({ params: { refund_id: (await records.refund()).id } }),
  },
  refundClaims: {
    retrieve: async (records) => ({ body: { token: (await records.refund()).token } }),
    setAddress: async (records) => ({
      body: { token: (await records.refund()).token, address: records.evmAddress() },
    }),
  },
  transactions: {
    async list(records) {
      await records.payment();
      return { query: { skip: 5 } };
    },
    retrieve: async (records) => ({ params: { transaction_id: await records.payment() } }),
    verify: async (records) => ({ params: { transaction_id: await records.paidPayment() } }),
    verifyCheckout: async (records) => ({ params: { transaction_id: await records.paidPayment() } }),
    events: async (records) => ({ params: { transaction_id: await records.payment() } }),
    receipts: async (records) => ({ params: { transaction_id: await records.paidPayment() } }),
    fee: async (records) => ({ params: { transaction_id: await records.paidPayment() } }),
    accept: async (records) => ({
      params: { transaction_id: await records.shortPayment() },
      body: { amount: '1', note: 'A regular customer' },
    }),
    resendWebhook: async (records) => ({ params: { transaction_id: await records.payment() } }),
  },
  links: {
    create: () => ({ body: { title: 'Workshop ticket', amount: '45', baseCurrency: 'USD' } }),
    async list(records) {
      await records.link();
      return { query: { isActive: 'true' } };
    },
    retrieve: async (records) => ({ params: { link_id: await records.link() } }),
    update: async (records) => ({ params: { link_id: await records.link() }, body: { isActive: 'false' } }),
  },
  wallets: {
    async list(records) {
      await records.wallet();
      return { query: { currency: 'USDT' } };
    },
    retrieve: async (records) => ({ params: { wallet_id: await records.wallet() } }),
    create: () => ({ body: { currency: 'BTC', label: 'Donations' } }),
    remove: async (records) => ({ params: { wallet_id: await records.wallet() } }),
  },
  webhooks: {
    list: async (records) => ({ query: { subjectId: (await records.delivery()).subjectId } }),
    retrieve: async (records) => ({ params: { webhook_id: (await records.delivery()).id } }),
    retry: async (records) => ({ params: { webhook_id: (await records.delivery()).id } }),
    retryFailed: () => ({}),
    sendSample: () => ({ body: { type: 'payment.late' } }),
  },
  home: { retrieve: () => ({}), listNetworks: () => ({}) },
};

/** A call without the types of its endpoint. */
export interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** By resource and verb. */
type NamedCalls = Readonly<
  Record<string, Readonly<Record<string, (records: Records) => Call | Promise<Call>>>>
>;

/** @throws if the endpoint has no valid call */
export async function validCall(
  records: Records,
  { resource, verb }: Pick<NamedEndpoint, 'resource' | 'verb'>,
): Promise<Call> {
  const call = (validCalls as unknown as NamedCalls)[resource]?.[verb];
  if (!call) throw new Error(`${resource}.${verb} has no valid call in valid-calls.ts`);
  return call(records);
}

export function pathOf({ path }: Endpoint, { params = {}, query = {} }: Call): string {
  const filled = fillPath(path, (name) => encodePath(params[name] ?? ''));
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return search.size > 0 ? `${filled}?${search.toString()}` : filled;
}
