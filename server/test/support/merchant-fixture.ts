/** A merchant in test mode, for tests that move money: payments in, transfers out, and a check of the ledger. */
import { expect, vi } from 'vitest';
import { checkLedger } from '../../src/core/audit/check.js';
import type { Answer, CallOptions } from './call.js';
import { runCommandLine } from './command-line.js';
import type { TestServer } from './server.js';

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

export interface Funding {
  readonly currency?: string;
  readonly network?: string;
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

  /** Creates and locks a payment. @returns its id and address */
  async function lock({ currency = 'USDT', network = 'tron' } = {}): Promise<{
    id: string;
    address: string;
  }> {
    const body = { amount: 10, baseCurrency: 'USD' };
    const { payment } = await ask<{ payment: { id: string } }>('POST', '/v1/payments/checkout', { body });
    const path = `/v1/payments/${payment.id}/currency`;
    await ask('PATCH', `${path}/set/${currency}/${network}`);
    const locked = await ask<{ addressInformation: { address: string } }>('PATCH', `${path}/lock`);
    return { id: payment.id, address: locked.addressInformation.address };
  }

  return {
    ask,
    sandbox,
    mine,
    lock,

    /** Pays the merchant. The amount must cover a payment of 10 dollars; the fee is 1 %. */
    async fund({
      currency = 'USDT',
      network = 'tron',
      amount,
    }: Funding): Promise<{ id: string; txHash: string }> {
      const { id, address } = await lock({ currency, network });
      const { txHash } = await sandbox('transfers', { network, currency, address, amount });
      await mine(2, network);
      return { id, txHash };
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
      const checks = await server.database.snapshot((reader) => checkLedger(reader));
      expect(checks.flatMap(({ violations }) => violations)).toEqual([]);
    },
  };
}

export type MerchantFixture = ReturnType<typeof openMerchant>;
