/** Creates records over HTTP, as a merchant's server does, for tests that need them. */
import { randomBytes } from 'node:crypto';
import { createMerchantClient, type MerchantClient } from 'crypto-checkout/client';
import type { Payment } from 'crypto-checkout/contract';
import { expect, vi } from 'vitest';
import type { TestServer } from './server.js';

export interface Records {
  readonly merchant: MerchantClient;
  /** A new email. */
  email(): string;
  /** A new address on Ethereum and compatible networks. */
  evmAddress(): string;
  /** The body to create a bank account, with a new account number. */
  bankAccountBody(): Parameters<MerchantClient['bankAccounts']['create']>[0]['body'];
  customer(): Promise<{ id: string; email: string }>;
  bankAccount(): Promise<string>;
  walletAddress(): Promise<string>;
  plan(): Promise<string>;
  link(): Promise<string>;
  /** A new customer subscribed to a new plan. */
  subscriber(): Promise<{ id: string; planId: string; email: string }>;
  payment(): Promise<string>;
  /** A payment with its currency set: USDT, on Tron by default. */
  setPayment(network?: string): Promise<string>;
  lockedPayment(network?: string): Promise<Payment>;
  /** A payment that is paid in full and confirmed. */
  paidPayment(network?: string): Promise<string>;
  /** A payment for which 1 USDT has arrived, less than is due. */
  shortPayment(): Promise<string>;
  /** A pending transfer to a new address, and a payment that funds it. */
  transfer(): Promise<string>;
  /** A refund of half a dollar of a new payment on Ethereum, with its claim's token. */
  refund(more?: { address?: string }): Promise<{ id: string; token: string }>;
  /** The payout of a completed transfer to a saved address. */
  payout(): Promise<{ id: string; transferId: string; walletAddressId: string }>;
  wallet(): Promise<string>;
  /** A webhook event about a new payment. The account must have a webhook URL. */
  delivery(): Promise<{ id: string; subjectId: string }>;
  sandbox(path: string, body: object): Promise<void>;
  /** Adds blocks to Ethereum until the transfer has ended. @returns its status */
  completeTransfer(transferId: string): Promise<string>;
  /** Sets the first account's webhook URL. @returns the signing secret */
  setWebhookUrl(url: string): Promise<string>;
}

/** @param key a secret test key; by default the one of the server's first account */
export function createRecords(server: TestServer, key = server.secretKey): Records {
  const merchant = createMerchantClient({ apiUrl: server.url, secretKey: key });
  const random = () => randomBytes(8).toString('hex');

  const records: Records = {
    merchant,
    email: () => `ada-${random()}@example.com`,
    evmAddress: () => `0x${randomBytes(20).toString('hex')}`,

    bankAccountBody: () => ({
      // Equity Bank Kenya: its account numbers have no check digit.
      accountNumber: String(randomBytes(6).readUIntBE(0, 6)).padStart(13, '0').slice(0, 13),
      accountBank: '68',
      country: 'KE',
      currency: 'KES',
      accountName: 'Ada Example',
    }),

    async customer() {
      const body = { email: records.email(), fullName: 'Ada Example', phoneNumber: '+15550100' };
      return (await merchant.customers.create({ body })).data;
    },

    async bankAccount() {
      return (await merchant.bankAccounts.create({ body: records.bankAccountBody() })).data.id;
    },

    async walletAddress() {
      const body = {
        address: records.evmAddress(),
        currency: 'USDT',
        network: 'ethereum',
        label: 'Treasury',
      };
      return (await merchant.walletAddresses.create({ body })).data.id;
    },

    async plan() {
      const body = {
        frequency: 'monthly',
        planName: 'Example membership',
        numberOfTimesToCharge: 12,
        amount: 5000,
        currency: 'NGN',
        currencies: ['USDT', 'BTC'],
      } as const;
      return (await merchant.paymentPlans.create({ body: { ...body, currencies: [...body.currencies] } }))
        .data.id;
    },

    async link() {
      const body = { title: 'Workshop ticket', amount: 45, baseCurrency: 'USD' };
      return (await merchant.links.create({ body })).data.id;
    },

    async subscriber() {
      const planId = await records.plan();
      const email = records.email();
      await merchant.subscribers.create({ params: { payment_plan_id: planId }, body: { email } });
      const { data } = await merchant.subscribers.list({ query: { customer: email } });
      const [subscriber] = data;
      if (!subscriber) throw new Error('The subscriber is not listed');
      return { id: subscriber.id, planId, email };
    },

    async payment() {
      const body = {
        amount: 5000,
        baseCurrency: 'NGN',
        txRef: `order-${random()}`,
        customer: { email: records.email(), name: 'Ada Example' },
      };
      return (await merchant.payments.create({ body })).data.payment.id;
    },

    async setPayment(network = 'tron') {
      const payment_id = await records.payment();
      const params = { payment_id, currency: 'USDT', network };
      await merchant.payments.setCurrency({ params });
      return payment_id;
    },

    async lockedPayment(on) {
      const payment_id = await records.setPayment(on);
      return (await merchant.payments.lockCurrency({ params: { payment_id } })).data;
    },

    async shortPayment() {
      const { id, addressInformation } = await records.lockedPayment();
      const { address = '', network = '' } = addressInformation ?? {};
      await records.sandbox('transfers', { network, currency: 'USDT', address, amount: 1 });
      await records.sandbox('blocks', { network, count: 3 });
      return id;
    },

    async paidPayment(on) {
      const { id, addressInformation, amount } = await records.lockedPayment(on);
      const { address = '', network = '' } = addressInformation ?? {};
      await records.sandbox('transfers', { network, currency: 'USDT', address, amount });
      await records.sandbox('blocks', { network, count: 3 });
      return id;
    },

    async transfer() {
      await records.paidPayment('ethereum');
      const body = {
        amount: 0.5,
        currency: 'USDT',
        walletAddress: records.evmAddress(),
        walletNetwork: 'ethereum',
      };
      return (await merchant.transfers.create({ body })).data.id;
    },

    async refund(more) {
      const params = { payment_id: await records.paidPayment('ethereum') };
      const body = { kind: 'partial', amount: 0.5, ...more } as const;
      const { id, claimUrl = '' } = (await merchant.refunds.create({ params, body })).data;
      return { id, token: new URL(claimUrl).hash.slice(1) };
    },

    async payout() {
      await records.paidPayment('ethereum');
      const walletAddressId = await records.walletAddress();
      const body = { amount: 0.5, currency: 'USDT', walletAddress: walletAddressId };
      const { id: transferId } = (await merchant.transfers.create({ body })).data;
      expect(await records.completeTransfer(transferId)).toBe('success');
      const { data } = await merchant.payouts.list({ query: { address: walletAddressId } });
      const [payout] = data;
      if (!payout) throw new Error('The payout is not listed');
      return { id: payout.id, transferId, walletAddressId };
    },

    async wallet() {
      const body = { currency: 'USDT', label: `Donations ${random()}` };
      return (await merchant.wallets.create({ body })).data.id;
    },

    async sandbox(path, body) {
      const answer = await server.api('POST', `/sandbox/${path}`, { key, body });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    },

    async completeTransfer(transferId) {
      const mineAndCheck = async () => {
        await records.sandbox('blocks', { network: 'ethereum', count: 1 });
        return (await merchant.transfers.retrieve({ params: { transfer_id: transferId } })).data.status;
      };
      await vi.waitFor(async () => expect(await mineAndCheck()).toMatch(/^(success|failed)$/), {
        timeout: 10_000,
        interval: 5,
      });
      return mineAndCheck();
    },

    async delivery() {
      const subjectId = await records.payment();
      await merchant.transactions.resendWebhook({ params: { transaction_id: subjectId } });
      const [delivery] = (await merchant.webhooks.list({ query: { subjectId } })).data;
      return { id: delivery?.id ?? '', subjectId };
    },

    async setWebhookUrl(url) {
      const endpoints = server.app.endpoints;
      const { merchantId } = server.bootstrapped;
      const secret = await server.database.write((transaction) =>
        endpoints.set(transaction, { merchantId, mode: 'test' }, url),
      );
      return secret ?? '';
    },
  };
  return records;
}
