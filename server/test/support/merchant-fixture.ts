/** A merchant in test mode, for tests that move money: payments in, transfers out, and a check of the ledger. */
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

export interface Balance {
  readonly currency: string;
  readonly availableBalance: number;
  readonly totalBalance: number;
  readonly isSuspended: boolean;
}

export interface TransferRecord {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly fee: number;
  readonly txHash?: string;
  readonly failureReason?: string;
}

/** USDT on Tron by default. */
export interface Coin {
  readonly currency?: string;
  readonly network?: string;
}

export interface Funding extends Coin {
  readonly amount: number;
}

export interface LockedPayment {
  readonly id: string;
  readonly address: string;
  /** In coins. */
  readonly amount: number;
}

export function openMerchant(server: TestServer) {
  const run = (...args: string[]) => runCommandLine(server.databaseUrl, args);

  async function ask<T>(method: string, path: string, options?: CallOptions): Promise<T> {
    const { status, body } = await server.api(method, path, options);
    expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBe(200);
    return body.data as T;
  }
  const sandbox = (path: string, body: object) =>
    ask<{ txHash: string }>('POST', `/sandbox/${path}`, { body });
  const mine = (count = 2, network = 'tron') => sandbox('blocks', { network, count });

  /** Chooses a coin for a payment, and locks it. @param key by default the secret one */
  async function choose(
    id: string,
    { currency = 'USDT', network = 'tron' }: Coin = {},
    key?: string,
  ): Promise<LockedPayment> {
    const path = `/v1/payments/${id}/currency`;
    const options = key === undefined ? {} : { key };
    await ask('PATCH', `${path}/set/${currency}/${network}`, options);
    const { addressInformation, amount } = await ask<{
      addressInformation: { address: string };
      amount: number;
    }>('PATCH', `${path}/lock`, options);
    return { id, address: addressInformation.address, amount };
  }

  /** Creates and locks a payment. @param more fields of the payment, which is 10 dollars by default */
  async function lock({ currency, network, ...more }: Coin & Readonly<Record<string, unknown>> = {}) {
    const body = { amount: 10, baseCurrency: 'USD', ...more };
    const { payment } = await ask<{ payment: { id: string } }>('POST', '/v1/payments/checkout', { body });
    return choose(payment.id, { ...(currency && { currency }), ...(network && { network }) });
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

  return {
    ask,
    sandbox,
    mine,
    choose,
    lock,
    send,
    pay,

    /** Pays the merchant. The amount must cover a payment of 10 dollars; the fee is 1 %. */
    async fund({ amount, ...coin }: Funding): Promise<{ id: string; txHash: string }> {
      const { id, address } = await lock({ ...coin });
      return { id, ...(await pay(address, amount, coin)) };
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

    transfer: (body: object, options: CallOptions = {}): Promise<Answer> =>
      server.api('POST', '/v1/transfers', {
        body: {
          amount: 1,
          currency: 'USDT',
          walletAddress: externalAddresses.tron,
          walletNetwork: 'tron',
          ...body,
        },
        ...options,
      }),
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

export type MerchantFixture = ReturnType<typeof openMerchant>;
