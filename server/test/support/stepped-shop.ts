/** The rules in the test's process, without HTTP: payments and withdrawals on chains and a clock that tests move by hand. */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { createApp, type App, type Overrides } from '../../src/app.js';
import { ensureTestSeed } from '../../src/core/addresses/test-seed.js';
import { readConfig } from '../../src/core/config.js';
import { settings } from '../../src/modules.js';
import { openDatabase } from '../../src/database.js';
import type { Database } from '../../src/core/db/database.js';
import type { Transaction } from '../../src/core/db/engine.js';
import type { Rate } from '../../src/core/money/rates.js';
import type { Actor, Mode } from '../../src/core/shared/scope.js';
import { expectWholeBooks } from './books.js';
import type { TestEngine } from './engines.js';
import { expectBooksInOrder } from './violations.js';

const { signal } = new AbortController();
const log = pino({ level: 'silent' });

export type SteppedShop = Awaited<ReturnType<typeof openSteppedShop>>;

export interface LockedPayment {
  readonly id: string;
  readonly address: string;
  /** In units. */
  readonly amount: bigint;
  readonly expiresAt: number;
}

/** The merchant of every transfer to an address. Reorganisations in these tests drop transfers of all merchants. */
export const payee = 'payee';

/** Reorganises a network for every merchant: the sandbox only drops the transfers of one. */
export async function reorgAll(
  transaction: Transaction,
  app: App,
  network: string,
  depth: number,
  keep: boolean,
): Promise<void> {
  const merchants = await transaction
    .selectFrom('simulated_transfers')
    .select('merchant_id')
    .distinct()
    .where('merchant_id', 'is not', null)
    .execute();
  for (const merchantId of new Set([payee, ...merchants.flatMap((row) => row.merchant_id ?? [])])) {
    await app.simulatedChains.reorg(transaction, { merchantId, network, depth, keep });
  }
}

/** @param env more of the environment, read again at each restart */
export async function openSteppedShop(
  engine: TestEngine,
  overrides: Overrides = {},
  env: Readonly<Record<string, string>> = {},
) {
  const made = await engine.create();
  const database: Database = await openDatabase(made.url);
  await ensureTestSeed(database);
  const time = { now: Date.UTC(2026, 0, 1) };
  /** In cents per dollar, the price of a coin of a currency; 0 if nobody knows it. */
  const cents = new Map<string, bigint>();
  const rates = {
    latest(currency: string): Rate | undefined {
      const numerator = cents.get(currency) ?? 100n;
      return numerator === 0n ? undefined : { numerator, denominator: 100n, source: 'test', at: time.now };
    },
  };
  const build = (): Promise<App> =>
    createApp({
      config: readConfig({ DATABASE_URL: made.url, BLOCK_INTERVAL_MS: '0', ...env }, settings),
      database,
      log,
      publicUrl: 'http://localhost',
      checkoutUrl: 'http://localhost/pay',
      stopping: signal,
      overrides: { realNow: () => time.now, rates, ...overrides },
    });
  let app = await build();
  let replica: App | undefined;
  await app.simulatedChains.prepare();
  const scan = (network: string) => app.scanner.scanNow({ mode: 'test', network });

  return {
    time,
    cents,
    scan,
    databaseUrl: made.url,
    get app() {
      return app;
    },
    get database() {
      return database;
    },

    async merchant(feeBasisPoints = 100): Promise<Actor> {
      const { id } = await database.write((transaction) =>
        app.merchants.create(transaction, { name: 'Shop', feeBasisPoints }),
      );
      return { merchantId: id, mode: 'test', kind: 'secret' };
    },

    /** Creates and locks a payment. @param amount in dollars, or in the given currency */
    async lock(
      scope: Actor,
      { amount = '10', currency = 'USDT', network = 'tron', baseCurrency = 'USD' } = {},
    ): Promise<LockedPayment> {
      return database.write(async (transaction) => {
        const base = app.payments.parseBase(scope, amount, baseCurrency);
        const { id } = await app.payments.create(transaction, scope, base);
        await app.payments.setCurrency(transaction, scope, id, currency, network);
        await app.payments.lockCurrency(transaction, scope, id);
        const row = await transaction
          .selectFrom('payments')
          .select(['address', 'amount', 'expires_at'])
          .where('id', '=', id)
          .executeTakeFirstOrThrow();
        return {
          id,
          address: row.address ?? '',
          amount: BigInt(row.amount ?? '0'),
          expiresAt: row.expires_at,
        };
      });
    },

    send: (network: string, currency: string, address: string, amount: bigint): Promise<string> =>
      database.write((transaction) =>
        app.simulatedChains.send(transaction, { merchantId: payee, network, currency, address, amount }),
      ),

    /** Sends many transfers with few statements. @returns their hashes */
    async flood(network: string, currency: string, address: string, amount: bigint, count: number) {
      const hashes = Array.from({ length: count }, () => randomBytes(32).toString('hex'));
      await database.write(async (transaction) => {
        for (let start = 0; start < count; start += 1000) {
          const rows = hashes.slice(start, start + 1000).map((tx_hash) => ({
            tx_hash,
            network,
            currency,
            address,
            amount: amount.toString(),
            merchant_id: payee,
            sender: 'T',
            sent_at: time.now,
            block_height: null,
          }));
          await transaction.insertInto('simulated_transfers').values(rows).execute();
        }
      });
      return hashes;
    },

    async mine(network: string, count = 1): Promise<void> {
      await database.write((transaction) => app.simulatedChains.mine(transaction, network, count));
      await scan(network);
    },

    async reorg(network: string, depth: number, keep: boolean): Promise<void> {
      await database.write((transaction) => reorgAll(transaction, app, network, depth, keep));
      await scan(network);
    },

    /** Takes a pending transfer out of the network. @returns a function that sends the same transaction again */
    async drop(txHash: string): Promise<() => Promise<void>> {
      const rows = await database.write((transaction) =>
        transaction.deleteFrom('simulated_transfers').where('tx_hash', '=', txHash).returningAll().execute(),
      );
      return () =>
        database.write(async (transaction) => {
          for (const row of rows) {
            await transaction
              .insertInto('simulated_transfers')
              .values({ ...row, block_height: null })
              .execute();
          }
        });
    },

    /** Lets time pass: the given networks are read up to it, and payments expire. */
    async pass(ms: number, networks: readonly string[] = ['tron']): Promise<void> {
      time.now += ms;
      for (const network of networks) await scan(network);
      await app.payments.expireOverdue(signal);
    },

    withdraw: (
      scope: Actor,
      amount: string,
      walletAddress: string,
      walletNetwork: string,
      currency = 'USDT',
    ) =>
      database.write((transaction) =>
        app.transfers.create(transaction, scope, { amount, currency, walletAddress, walletNetwork }),
      ),
    advance: () => app.testPayer.advance(signal),

    async transfer(id: string) {
      return database.reader
        .selectFrom('transfers')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
    },

    async payment(id: string) {
      return database.reader
        .selectFrom('payments')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
    },

    async logOf(id: string): Promise<string[]> {
      const rows = await database.reader
        .selectFrom('log_entries')
        .select('event')
        .where('payment_id', '=', id)
        .orderBy('id')
        .execute();
      return rows.map(({ event }) => event);
    },

    /** A merchant's balance: available less debts, and reserved, in units. */
    async balance({ merchantId, mode }: Actor, currency = 'USDT') {
      const rows = await database.reader
        .selectFrom('ledger_accounts')
        .selectAll()
        .where('merchant_id', '=', merchantId)
        .where('mode', '=', mode)
        .where('currency', '=', currency)
        .execute();
      const sum = (kind: string, isDebt: boolean) =>
        rows
          .filter((row) => row.kind === kind && row.id.endsWith('/debt') === isDebt)
          .reduce((total, row) => total + BigInt(row.balance), 0n);
      return {
        net: sum('available', false) + sum('unallocated', true),
        reserved: sum('reserved', false),
        unallocated: sum('unallocated', false),
        custody: sum('custody', false),
      };
    },

    async feeIncome(currency = 'USDT', mode: Mode = 'test'): Promise<bigint> {
      const row = await database.reader
        .selectFrom('ledger_accounts')
        .select('balance')
        .where('kind', '=', 'fee_income')
        .where('mode', '=', mode)
        .where('currency', '=', currency)
        .executeTakeFirst();
      return BigInt(row?.balance ?? '0');
    },

    /** A process that stops and one that starts: what it kept in memory is gone. */
    async restart(): Promise<void> {
      await app.scanner.stop();
      app = await build();
    },

    /** All processes stop, and one starts, as after a change of the configuration. */
    async restartAll(): Promise<void> {
      await replica?.scanner.stop();
      replica = undefined;
      await this.restart();
    },

    /** Another process on the same database takes over, while this one keeps running. */
    async switchServer(): Promise<void> {
      const other = replica ?? (await build());
      replica = app;
      app = other;
    },

    async expectBooksInOrder(): Promise<void> {
      await expectBooksInOrder(database);
      // Whatever was posted, the accountant gets it, and it adds up.
      await expectWholeBooks({ app, database });
    },

    async close(): Promise<void> {
      await Promise.all([app.scanner.stop(), replica?.scanner.stop()]);
      await database.close();
      await made.dispose();
    },
  };
}
