/** Creates records over HTTP, as a merchant's server does, for tests that need some of each kind. */
import { randomBytes } from 'node:crypto';
import { createMerchantClient, type MerchantClient } from 'crypto-checkout/client';
import type { TestServer } from './server.js';
import { openShop, type LockedPayment, type Order } from './shop.js';

/** @param key a secret test key; by default the one of the server's first account */
export function createRecords(server: TestServer, key = server.secretKey) {
  const merchant = createMerchantClient({ apiUrl: server.url, secretKey: key });
  const shop = openShop(server, key);
  const random = () => randomBytes(8).toString('hex');

  const email = () => `ada-${random()}@example.com`;
  const evmAddress = () => `0x${randomBytes(20).toString('hex')}`;

  const bankAccountBody = (): Parameters<MerchantClient['bankAccounts']['create']>[0]['body'] => ({
    // Equity Bank Kenya: its account numbers have no check digit.
    accountNumber: String(randomBytes(6).readUIntBE(0, 6)).padStart(13, '0').slice(0, 13),
    accountBank: '68',
    country: 'KE',
    currency: 'KES',
    accountName: 'Ada Example',
  });

  async function walletAddress(): Promise<string> {
    const body = { address: evmAddress(), currency: 'USDT', network: 'ethereum', label: 'Treasury' };
    return (await merchant.walletAddresses.create({ body })).data.id;
  }

  async function plan(): Promise<string> {
    const { data } = await merchant.paymentPlans.create({
      body: {
        frequency: 'monthly',
        planName: 'Example membership',
        numberOfTimesToCharge: 12,
        amount: 5000,
        currency: 'NGN',
        currencies: ['USDT', 'BTC'],
      },
    });
    return data.id;
  }

  const order = (): Order => ({
    amount: 5000,
    baseCurrency: 'NGN',
    txRef: `order-${random()}`,
    customer: { email: email(), name: 'Ada Example' },
  });
  const payment = async (): Promise<string> => (await shop.create(order())).id;
  const lockedPayment = (network = 'tron') => shop.lock({ ...order(), network });

  /** Sends USDT to a payment, with the blocks that confirm it. @returns the payment's id */
  async function payAndConfirm(
    { id, address }: LockedPayment,
    amount: number,
    network: string,
  ): Promise<string> {
    await shop.send(address, amount, { network });
    await shop.mine(3, network);
    return id;
  }

  /** A payment that is paid in full and confirmed. */
  async function paidPayment(network = 'tron'): Promise<string> {
    const locked = await lockedPayment(network);
    return payAndConfirm(locked, locked.amount, network);
  }

  return {
    /** The steps of which the records are made. */
    shop,
    merchant,
    /** A new email. */
    email,
    /** A new address on Ethereum and compatible networks. */
    evmAddress,
    /** The body to create a bank account, with a new account number. */
    bankAccountBody,
    walletAddress,
    plan,
    payment,
    lockedPayment,
    paidPayment,

    async customer(): Promise<{ id: string; email: string }> {
      const body = { email: email(), fullName: 'Ada Example', phoneNumber: '+15550100' };
      return (await merchant.customers.create({ body })).data;
    },

    async bankAccount(): Promise<string> {
      return (await merchant.bankAccounts.create({ body: bankAccountBody() })).data.id;
    },

    async link(): Promise<string> {
      return (await shop.createLink({ title: 'Workshop ticket', amount: 45, baseCurrency: 'USD' })).id;
    },

    /** A new customer subscribed to a new plan. */
    async subscriber(): Promise<{ id: string; planId: string; email: string }> {
      const planId = await plan();
      const customer = email();
      await merchant.subscribers.create({ params: { payment_plan_id: planId }, body: { email: customer } });
      const [subscriber] = (await merchant.subscribers.list({ query: { customer } })).data;
      if (!subscriber) throw new Error('The subscriber is not listed');
      return { id: subscriber.id, planId, email: customer };
    },

    /** A payment with its currency set: USDT, on Tron by default. */
    async setPayment(network = 'tron'): Promise<string> {
      const id = await payment();
      await shop.set(id, { network });
      return id;
    },

    /** A payment for which 1 USDT has arrived, less than is due. */
    shortPayment: async (): Promise<string> => payAndConfirm(await lockedPayment(), 1, 'tron'),

    /** A pending transfer to a new address, and a payment that funds it. */
    async transfer(): Promise<string> {
      await paidPayment('ethereum');
      const body = { amount: 0.5, walletAddress: evmAddress(), walletNetwork: 'ethereum' };
      return (await shop.withdraw(body)).id;
    },

    /** A refund of half a dollar of a new payment on Ethereum, with its claim's token. */
    async refund(more?: { address?: string }): Promise<{ id: string; token: string }> {
      const paid = await paidPayment('ethereum');
      const { id, claimUrl = '' } = await shop.refund(paid, { kind: 'partial', amount: 0.5, ...more });
      return { id, token: new URL(claimUrl).hash.slice(1) };
    },

    /** The payout of a completed transfer to a saved address. */
    async payout(): Promise<{ id: string; transferId: string; walletAddressId: string }> {
      await paidPayment('ethereum');
      const walletAddressId = await walletAddress();
      // A saved address has its own network.
      const body = { amount: 0.5, walletAddress: walletAddressId, walletNetwork: undefined };
      const { id: transferId } = await shop.withdraw(body);
      await shop.until(transferId, 'success', 'ethereum');
      const [payout] = (await merchant.payouts.list({ query: { address: walletAddressId } })).data;
      if (!payout) throw new Error('The payout is not listed');
      return { id: payout.id, transferId, walletAddressId };
    },

    async wallet(): Promise<string> {
      const body = { currency: 'USDT', label: `Donations ${random()}` };
      return (await merchant.wallets.create({ body })).data.id;
    },

    /** A webhook event about a new payment. The account must have a webhook URL. */
    async delivery(): Promise<{ id: string; subjectId: string }> {
      const subjectId = await payment();
      await merchant.transactions.resendWebhook({ params: { transaction_id: subjectId } });
      const [delivery] = (await merchant.webhooks.list({ query: { subjectId } })).data;
      return { id: delivery?.id ?? '', subjectId };
    },
  };
}

export type Records = ReturnType<typeof createRecords>;
