/**
 * A merchant's shop on a running server, in test mode: payments, payers' transfers, blocks, the clock, withdrawals and
 * refunds over HTTP, the server's commands, and a check of the ledger.
 */
import type { MerchantClient } from 'crypto-checkout/client';
import type { Link, PaymentRecord } from 'crypto-checkout/contract';
import { expect, vi } from 'vitest';
import type { Answer, CallOptions } from './call.js';
import { runCommandLine } from './command-line.js';
import type { TestServer } from './server.js';
import { expectBooksInOrder } from './violations.js';

/** A valid address for each family of simulated networks that belongs to no account of the tests. */
export const externalAddresses = {
  tron: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  evm: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  bitcoin: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
} as const;

type DataOf<Call extends (call: never) => Promise<{ data: unknown }>> = Awaited<ReturnType<Call>>['data'];
export type Balance = DataOf<MerchantClient['balances']['list']>[number];
export type TransferRecord = DataOf<MerchantClient['transfers']['retrieve']>;
export type RefundRecord = DataOf<MerchantClient['refunds']['create']>;
export type Wallet = DataOf<MerchantClient['wallets']['retrieve']>;

/** USDT on Tron by default. */
interface Coin {
  readonly currency?: string;
  readonly network?: string;
}

/** Fields of a new payment, which is 10 dollars by default. */
export type Order = Partial<Parameters<MerchantClient['payments']['create']>[0]['body']> & {
  /** By default the merchant's secret key. */
  readonly key?: string | undefined;
};

/** A payment that has a quote. */
export type LockedPayment = PaymentRecord & {
  readonly address: string;
  /** In coins. */
  readonly amount: number;
};

/** @param secretKey by default the test key of the server's first account */
export function openShop(server: TestServer, secretKey = server.secretKey) {
  const api = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
    server.api(method, path, { key: secretKey, ...options });
  const run = (...args: string[]) => runCommandLine(server.databaseUrl, args);

  async function ask<T>(method: string, path: string, options?: CallOptions): Promise<T> {
    const { status, body } = await api(method, path, options);
    expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBe(200);
    return body.data as T;
  }
  const sandbox = (path: string, body: object) =>
    ask<{ txHash: string }>('POST', `/sandbox/${path}`, { body });
  const mine = (count = 2, network = 'tron') => sandbox('blocks', { network, count });

  /** The server's reply to a new payment, whatever it is. */
  const checkout = (
    { key = secretKey, ...fields }: Order = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const body = { amount: 10, baseCurrency: 'USD', ...fields };
    return api('POST', '/v1/payments/checkout', { key, headers, body });
  };

  async function create(order: Order = {}): Promise<PaymentRecord> {
    const { status, body } = await checkout(order);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data['payment'] as PaymentRecord;
  }

  /** Sets a payment's coin, which can still be changed. @param key by default the merchant's secret one */
  const set = (id: string, { currency = 'USDT', network = 'tron' }: Coin = {}, key = secretKey) =>
    ask<PaymentRecord>('PATCH', `/v1/payments/${id}/currency/set/${currency}/${network}`, { key });

  /** Chooses a coin for a payment, and locks it. @param key by default the merchant's secret one */
  async function choose(id: string, coin: Coin = {}, key = secretKey): Promise<LockedPayment> {
    await set(id, coin, key);
    const payment = await ask<PaymentRecord>('PATCH', `/v1/payments/${id}/currency/lock`, { key });
    const { addressInformation, amount } = payment;
    if (!addressInformation || amount === undefined) throw new Error('A locked payment has no quote');
    return { ...payment, address: addressInformation.address, amount };
  }

  /** Creates a payment, chooses its coin, and locks it. */
  async function lock({ currency, network, ...order }: Coin & Order = {}): Promise<LockedPayment> {
    const { id } = await create(order);
    return choose(id, { ...(currency && { currency }), ...(network && { network }) }, order.key);
  }

  /** A payer's transfer, which no block has yet. */
  const send = (
    address: string,
    amount: number | string,
    { currency = 'USDT', network = 'tron' }: Coin = {},
  ) => sandbox('transfers', { network, currency, address, amount });

  /** A payer's transfer, with the blocks that confirm it. */
  async function pay(address: string, amount: number | string, coin: Coin = {}): Promise<{ txHash: string }> {
    const sent = await send(address, amount, coin);
    await mine(2, coin.network);
    return sent;
  }

  /** The server's reply to a withdrawal, of 1 USDT by default, whatever it is. */
  const transfer = (body: object, options: CallOptions = {}): Promise<Answer> =>
    api('POST', '/v1/transfers', {
      body: {
        amount: 1,
        currency: 'USDT',
        walletAddress: externalAddresses.tron,
        walletNetwork: 'tron',
        ...body,
      },
      ...options,
    });

  return {
    ask,
    sandbox,
    mine,
    checkout,
    create,
    set,
    choose,
    lock,
    send,
    pay,

    /** Moves the merchant's test clock. */
    advance: (advanceSeconds: number) => sandbox('clock', { advanceSeconds }),

    /** Locks a payment of 10 dollars, and pays it. The amount must cover it; the fee is 1 %. */
    async fund({
      amount,
      currency,
      network,
      ...order
    }: Coin & Omit<Order, 'amount'> & { readonly amount: number }): Promise<{ id: string; txHash: string }> {
      const coin = { ...(currency && { currency }), ...(network && { network }) };
      const { id, address } = await lock({ ...coin, ...order });
      return { id, ...(await pay(address, amount, coin)) };
    },

    /** Adds blocks until a payment has the state. */
    async untilState(id: string, state: string, network = 'tron'): Promise<PaymentRecord> {
      return vi.waitFor(
        async () => {
          await mine(1, network);
          const payment = await ask<PaymentRecord>('GET', `/v1/transactions/${id}`);
          expect(payment.state).toBe(state);
          return payment;
        },
        { timeout: 20_000, interval: 20 },
      );
    },

    refund: (paymentId: string, body: object) =>
      ask<RefundRecord>('POST', `/v1/payments/${paymentId}/refunds`, { body }),
    retrieveRefund: (id: string) => ask<RefundRecord>('GET', `/v1/refunds/${id}`),

    createLink: (body: object) => ask<Link>('POST', '/v1/links', { body }),

    /** Sets the first account's webhook URL. @returns the signing secret */
    async setWebhookUrl(url: string): Promise<string> {
      const { endpoints } = server.app;
      const { merchantId } = server.bootstrapped;
      const secret = await server.database.write((transaction) =>
        endpoints.set(transaction, { merchantId, mode: 'test' }, url),
      );
      return secret ?? '';
    },

    /** The webhook events about a record, in their order. */
    async eventsOf(id: string): Promise<{ type: string; data: Record<string, unknown> }[]> {
      const rows = await server.database.reader
        .selectFrom('outbox')
        .select(['type', 'data'])
        .where('subject_id', '=', id)
        .orderBy('sequence')
        .execute();
      return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) as Record<string, unknown> }));
    },

    transfer,
    /** A transfer that must be accepted. */
    async withdraw(body: object = {}): Promise<TransferRecord> {
      const { status, body: reply } = await transfer(body);
      expect(status, JSON.stringify(reply)).toBe(200);
      return reply.data as unknown as TransferRecord;
    },
    retrieve: (id: string) => ask<TransferRecord>('GET', `/v1/transfers/${id}`),

    async balance(currency = 'USDT'): Promise<Balance> {
      const balances = await ask<Balance[]>('GET', '/v1/balances');
      const found = balances.find((balance) => balance.currency === currency);
      if (!found) throw new Error(`The merchant has no balance in ${currency}`);
      return found;
    },

    /** Adds blocks until a transfer has the status. */
    async until(id: string, status: string, network = 'tron'): Promise<TransferRecord> {
      return vi.waitFor(
        async () => {
          const transfer = await ask<TransferRecord>('GET', `/v1/transfers/${id}`);
          if (transfer.status !== status) await mine(1, network);
          expect(transfer.status).toBe(status);
          return transfer;
        },
        { timeout: 30_000, interval: 10 },
      );
    },

    /** The number of times that a transaction is on its chain. */
    async timesOnChain(txHash: string | undefined): Promise<number> {
      const rows = await server.database.reader
        .selectFrom('simulated_transfers')
        .select('tx_hash')
        .where('tx_hash', '=', txHash ?? '')
        .execute();
      return rows.length;
    },

    /** All amounts that were sent to an address on any chain, in units. */
    async arrived(address: string): Promise<string[]> {
      const rows = await server.database.reader
        .selectFrom('simulated_transfers')
        .select('amount')
        .where('address', '=', address)
        .execute();
      return rows.map(({ amount }) => amount);
    },

    run,
    /** Runs a command that must succeed, while the server is running. @returns its JSON output */
    async command(...args: string[]): Promise<unknown> {
      const { exitCode, stdout, stderr } = await run(...args, '--json');
      expect(exitCode, `${args.join(' ')}: ${stderr}`).toBe(0);
      return JSON.parse(stdout) as unknown;
    },
    /** Runs a command that must fail. @returns its error message */
    async refusal(...args: string[]): Promise<string> {
      const { exitCode, stderr } = await run(...args, '--json');
      expect(exitCode, args.join(' ')).toBe(1);
      return stderr.replace(/^Database: .*\n/, '').trim();
    },

    async expectBooksInOrder(): Promise<void> {
      await expectBooksInOrder(server.database);
    },
  };
}

export type Shop = ReturnType<typeof openShop>;
