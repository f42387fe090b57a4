/** A whole server on real nodes, for tests that pay it: what became of a payment, in its record, log, events and balances. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HDKey } from '@scure/bip32';
import {
  decimalOf,
  toUnits,
  type CodedLogEntry,
  type Credit,
  type PaymentRecord,
  type Receipt,
} from 'crypto-checkout/contract';
import type { Logger } from 'pino';
import { expect } from 'vitest';
import type { Family } from '../../src/core/chains/networks.js';
import type { TestEngine } from './engines.js';
import { startServer, type TestServer } from './server.js';
import { openShop } from './shop.js';
import { expectBooksInOrder } from './violations.js';

const account = (path: string, versions = { public: 0x0488b21e, private: 0x0488ade4 }) =>
  HDKey.fromMasterSeed(new Uint8Array(32).fill(5), versions).derive(path).publicExtendedKey;
export const depositKeys: Partial<Record<Family, string>> = {
  evm: account("m/44'/60'/0'"),
  tron: account("m/44'/195'/0'"),
  litecoin: account("m/84'/1'/0'", { public: 0x045f1cf6, private: 0x045f18bc }),
};

export interface LockedPayment {
  readonly id: string;
  readonly address: string;
  /** In the smallest unit of the books. */
  readonly amount: bigint;
}

/** The end of a payment. Amounts are in the smallest unit of the books. */
export interface Outcome {
  readonly state: string;
  readonly received: bigint;
  /** Oldest first. */
  readonly receipts: readonly (Pick<Receipt, 'currency' | 'network' | 'status' | 'counts'> & {
    readonly amount: bigint;
  })[];
  /** The codes of the time log, without those until the lock. */
  readonly log: readonly CodedLogEntry['code'][];
  /** The types of the webhook events, in their order. */
  readonly events: readonly string[];
}

export interface RealServerOptions {
  readonly engine: TestEngine;
  /** The content of NETWORKS_FILE under `networks`. */
  readonly networks: Readonly<Record<string, object>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly log?: Logger;
}

export type RealServer = Awaited<ReturnType<typeof startRealServer>>;

const decimals: Readonly<Record<string, number>> = { ETH: 18, TRX: 6, USDT: 6, USDC: 6, LTC: 8 };

export function unitsOf(amount: number, currency: string): bigint {
  return toUnits(decimalOf(amount), decimals[currency] ?? 0);
}

/** @returns a server whose merchant has deposit keys and a webhook. Its networks were scanned once */
export async function startRealServer({ engine, networks, env, log }: RealServerOptions) {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  const file = join(directory, 'networks.json');
  await writeFile(file, JSON.stringify({ networks }));
  /** The time by which the server's clock is ahead. */
  const time = { skewMs: 0 };
  const server: TestServer = await startServer({
    engine,
    env: { NETWORKS_FILE: file, ...env },
    overrides: { realNow: () => Date.now() + time.skewMs },
    ...(log && { log }),
  });
  const { app, database } = server;
  const merchantId = (await app.merchants.list(database.reader))[0]?.id ?? '';
  const scope = { merchantId, mode: 'test' } as const;
  await database.write(async (transaction) => {
    for (const [family, extendedPublicKey] of Object.entries(depositKeys)) {
      await app.depositKeys.set(transaction, scope, family as Family, {
        extendedPublicKey,
        script: undefined,
      });
    }
    await app.endpoints.set(transaction, scope, 'http://127.0.0.1:9/');
  });
  await app.depositKeys.refresh();
  const scan = (network: string) => app.scanner.scanNow({ mode: 'test', network });
  for (const network of Object.keys(networks)) await scan(network);

  const shop = openShop(server);
  const read = (id: string) => shop.ask<PaymentRecord>('GET', `/v1/transactions/${id}/verify`);

  return {
    ...server,
    merchantId,
    time,
    scan,
    ask: shop.ask,
    read,
    create: async () => (await shop.create()).id,

    /** A locked payment of 10 dollars. */
    async lock(currency: string, network: string): Promise<LockedPayment> {
      const { id, address, amount } = await shop.lock({ currency, network });
      return { id, address, amount: unitsOf(amount, currency) };
    },

    /**
     * Lets time pass for the merchant, past the deadlines of all locked payments.
     * @param mine adds a block, which shows the server that the chain has passed them too
     */
    async expire(mine: () => Promise<unknown>): Promise<void> {
      await shop.advance(31 * 60);
      // Blocks are timed in whole seconds.
      await delay(2000 - (Date.now() % 1000));
      await mine();
      for (const network of Object.keys(networks)) await scan(network);
      await app.payments.expireOverdue(new AbortController().signal);
    },

    async look({ id }: Pick<LockedPayment, 'id'>): Promise<Outcome> {
      const { state = '', currency = '', amountReceived = 0, receipts, transactionTimeLog } = await read(id);
      const events = await shop.eventsOf(id);
      return {
        state,
        received: unitsOf(amountReceived, currency),
        receipts: receipts.map((receipt) => ({
          currency: receipt.currency,
          network: receipt.network,
          status: receipt.status,
          counts: receipt.counts,
          amount: unitsOf(receipt.amount, receipt.currency),
        })),
        log: transactionTimeLog
          .map(({ code }) => code)
          .filter((code) => !['payment_started', 'currency_set', 'currency_locked'].includes(code)),
        events: events.map(({ type }) => type),
      };
    },

    /** The amounts that a payment credited to the merchant, in the smallest unit, by currency. */
    async credited({ id }: Pick<LockedPayment, 'id'>): Promise<Readonly<Record<string, bigint>>> {
      const { credited = [] }: { credited?: readonly Credit[] | undefined } = await read(id);
      return Object.fromEntries(
        credited.map(({ currency, amount }) => [currency, unitsOf(amount, currency)] as const),
      );
    },

    /**
     * Compares the books with all receipts: each confirmed one is in custody, each payment that has ended is credited
     * less the fee, and no posting is out of balance.
     */
    async expectBooksInOrder(): Promise<void> {
      await expectBooksInOrder(database);
      // The server keeps running meanwhile.
      const { accounts, receipts } = await database.snapshot(async (reader) => ({
        accounts: await reader.selectFrom('ledger_accounts').selectAll().execute(),
        receipts: await reader.selectFrom('receipts').selectAll().where('status', '=', 'confirmed').execute(),
      }));
      for (const currency of new Set([...accounts, ...receipts].map((row) => row.currency))) {
        const balanceOf = (kind: string) =>
          accounts
            .filter((row) => row.kind === kind && row.currency === currency)
            .reduce((sum, { balance }) => sum + BigInt(balance), 0n);
        const arrived = receipts
          .filter((row) => row.currency === currency)
          .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
        expect(balanceOf('custody'), currency).toBe(arrived);
        const owned = balanceOf('available') + balanceOf('fee_income') + balanceOf('unallocated');
        expect(owned, currency).toBe(arrived);
      }
    },

    async stop(): Promise<void> {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
