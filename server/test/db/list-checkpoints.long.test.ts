/** Checkpoints count and page long lists exactly, wherever and whenever rows are inserted. */
import { statusOf, type PaymentState } from 'crypto-checkout/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database } from '../../src/core/db/database.js';
import {
  extendCheckpoints,
  locatePage,
  rowsPerCheckpoint,
  startsAt,
} from '../../src/core/db/list-checkpoints.js';
import type { CustomerTable, Schema, SubscriberTable } from '../../src/core/db/schema.js';
import { engines, type TestDatabase } from '../support/engines.js';
import type { Transaction } from '../../src/core/db/engine.js';
import type { PageRequest } from '../../src/core/shared/pagination.js';
import { openDatabase } from '../../src/database.js';
import { listCustomers } from '../../src/core/customers/store.js';
import { listRecords } from '../../src/core/payments/list-store.js';
import { listSubscribers } from '../../src/core/subscriptions/subscriber-store.js';

const scope = { merchantId: 'M1', mode: 'test' } as const;
const never = new AbortController().signal;
const hour = 3_600_000;

describe.each(engines)('On $name, a long list', (engine) => {
  let made: TestDatabase;
  let inserted = 0;
  let database: Database;
  /** `created_at` and `id` of each row, as they were inserted. */
  let rows: { createdAt: number; id: string }[] = [];

  beforeAll(async () => {
    made = await engine.create();
    database = await openDatabase(made.url);
    await database.write(async (transaction) => {
      for (const id of ['M1', 'M2']) {
        await transaction
          .insertInto('merchants')
          .values({
            id,
            name: id,
            business_name: id,
            logo: '',
            fee_basis_points: 100,
            support_url: '',
            transfers: 'any',
            daily_limits: '{}',
            daily_refunds: '{}',
            auto_refund: '{}',
            created_at: 0,
            updated_at: 0,
          })
          .execute();
      }
    });
  });
  afterAll(async () => {
    await database.close();
    await made.dispose();
  });
  beforeEach(async () => {
    rows = [];
    await database.write(async (transaction) => {
      await transaction.deleteFrom('payments').execute();
      await transaction.deleteFrom('list_checkpoints').execute();
    });
  });

  const insert = (created: readonly number[], merchantId = 'M1') =>
    database.write(async (transaction) => {
      for (let begin = 0; begin < created.length; begin += 500) {
        const part = created.slice(begin, begin + 500).map((createdAt) => ({
          createdAt,
          id: `P${1e9 - inserted++}`,
        }));
        if (merchantId === 'M1') rows.push(...part);
        await insertRows(transaction, merchantId, part);
      }
    });
  const spread = (count: number, from = hour) =>
    Array.from({ length: count }, (_, index) => from + index * 7);
  /** The number of rows of each segment; null if that must be counted. */
  const segments = async () =>
    (
      await database.reader
        .selectFrom('list_checkpoints')
        .select('row_count')
        .where('merchant_id', '=', 'M1')
        .where('filter', '=', '')
        .orderBy('created_at')
        .orderBy('id')
        .execute()
    ).map(({ row_count: count }) => count);

  /** The ids of a page and the total, found with checkpoints. */
  async function pageOf(range: PageRequest) {
    const { total, limit, offset, start } = await locatePage(database.reader, 'payments', scope, range);
    const found = await database.reader
      .selectFrom('payments')
      .select('id')
      .where('merchant_id', '=', 'M1')
      .where('mode', '=', 'test')
      .where(startsAt(start, 'payments'))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
    return { total, ids: found.map(({ id }) => id) };
  }

  type Row = (typeof rows)[number];
  const newestFirst = () => rows.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  /** The same, found among all rows. */
  function expected({ page, skip, from = 0, to = Infinity }: PageRequest, sorted: readonly Row[]) {
    const matching = sorted.filter(({ createdAt }) => createdAt >= from && createdAt <= to);
    const begin = (page - 1) * skip;
    return { total: matching.length, ids: matching.slice(begin, begin + skip).map(({ id }) => id) };
  }

  async function expectAllPages() {
    const sorted = newestFirst();
    const times = [hour - 1, hour + 7000, hour + 7003, hour + 34_993];
    const spans = times.flatMap((from) => times.filter((to) => to >= from).map((to) => [from, to]));
    for (const [from, to] of [[], ...times.map((from) => [from]), ...spans]) {
      for (const page of [1, 11, 12, 30, 50, 51, 9999]) {
        const range = { page, skip: 100, from, to };
        expect({ range, ...(await pageOf(range)) }).toEqual({ range, ...expected(range, sorted) });
      }
    }
  }

  it('A long list has a checkpoint at every thousandth row, except among the newest', async () => {
    await insert(spread(5500));
    await insert(spread(1999), 'M2');
    await extendCheckpoints(database, never);
    expect(await segments()).toEqual([1000, 1000, 1000, 1000]);
    await insert(spread(500, 2 * hour));
    await extendCheckpoints(database, never);
    expect(await segments()).toEqual([1000, 1000, 1000, 1000, 1000]);
  });

  it('A long list is counted and paged the same without checkpoints', { timeout: 60_000 }, async () => {
    await insert(spread(5000));
    await expectAllPages();
    await extendCheckpoints(database, never);
    await expectAllPages();
    // Many rows with the same creation time.
    await insert(Array.from({ length: 2500 }, () => hour + 7000));
    await expectAllPages();
    await extendCheckpoints(database, never);
    await expectAllPages();
  });

  it('A row inserted late clears the count of its segment until checkpoints are extended again', async () => {
    await insert(spread(5000));
    await extendCheckpoints(database, never);
    await insert([hour + 2500 * 7 + 1]);
    expect(await segments()).toEqual([1000, 1000, null, 1000]);
    expect((await pageOf({ page: 1, skip: 1 })).total).toBe(5001);
    await expectAllPages();
    await extendCheckpoints(database, never);
    expect(await segments()).toEqual([1000, 1000, 1001, 1000]);
    await expectAllPages();
  });

  it('A segment into which many rows were inserted is divided', async () => {
    await insert(spread(5000));
    await extendCheckpoints(database, never);
    await insert(Array.from({ length: 2500 }, (_, index) => hour + 2500 * 7 + (index % 5)));
    expect(await segments()).toEqual([1000, 1000, null, 1000]);
    await extendCheckpoints(database, never);
    expect(await segments()).toEqual([1000, 1000, 1000, 1000, 1500, 1000]);
    await expectAllPages();
  });

  it('A long list is exact for every filter after random changes', { timeout: 120_000 }, async () => {
    await insert(spread(5000));
    const states = ['created', 'awaiting_funds', 'settled', 'settled_over', 'expired', 'cancelled'] as const;
    const coins = [null, 'USDT', 'BTC'] as const;
    const networks = [null, 'tron', 'bsc', 'bitcoin'] as const;
    const ids = rows.map(({ id }) => id);
    const change = async (count: number, first = 0) => {
      for (let changed = 0; changed < count; changed += 100) {
        await database.write(async (transaction) => {
          for (let index = 0; index < 100; index += 1) {
            const id = first === 0 ? pick(ids) : (ids[first + index] ?? '');
            const values = { state: pick(states), currency: pick(coins), network: pick(networks) };
            await transaction.updateTable('payments').set(values).where('id', '=', id).execute();
          }
        });
      }
    };
    const statuses = [undefined, 'in progress', 'success', 'error', 'cancelled'] as const;
    const expectAllFilters = async () => {
      const stored = await database.reader
        .selectFrom('payments')
        .select(['id', 'state', 'currency', 'network', 'created_at'])
        .where('merchant_id', '=', 'M1')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute();
      for (const status of statuses) {
        for (const currency of [undefined, 'USDT', 'BTC', 'none']) {
          for (const network of [undefined, 'tron']) {
            const ranges = [{}, { from: hour + 7003 }, { from: hour + 2, to: hour + 28_000 }];
            for (const range of network === undefined ? ranges : ranges.slice(0, 1)) {
              const { from = 0, to = Infinity }: { from?: number; to?: number } = range;
              const filter = { status, currency, network };
              const ids = stored
                .filter((row) => row.created_at >= from && row.created_at <= to)
                .filter((row) => status === undefined || statusOf(row.state) === status)
                .filter((row) => currency === undefined || row.currency === currency)
                .filter((row) => network === undefined || row.network === network)
                .map(({ id }) => id);
              for (const page of [1, Math.max(1, Math.ceil(ids.length / 25))]) {
                const request = { page, skip: 25, ...range };
                const { records, total } = await listRecords(database.reader, scope, {
                  ...request,
                  ...filter,
                });
                const found = { request, filter, total, ids: records.map(({ id }) => id) };
                expect(found).toEqual({
                  request,
                  filter,
                  total: ids.length,
                  ids: ids.slice((page - 1) * 25, page * 25),
                });
              }
            }
          }
        }
      }
    };
    await change(3000);
    await extendCheckpoints(database, never);
    await expectAllFilters();
    // One segment changes: the others keep their counts.
    await change(100, 2500);
    expect(await segments()).toEqual([1000, 1000, null, 1000]);
    await expectAllFilters();
    await change(500);
    await insert([hour + 1, hour + 7000, hour + 34_000]);
    await expectAllFilters();
    await extendCheckpoints(database, never);
    expect(await segments()).toEqual([1001, 1001, 1000, 1000]);
    await expectAllFilters();
  });

  it('Each write to the database counts one segment only, however many have changed', async () => {
    await insert(spread(5000));
    let writes = 0;
    const counted: Database = {
      ...database,
      write(work) {
        writes += 1;
        return database.write(work);
      },
    };
    await extendCheckpoints(counted, never);
    expect(writes).toBe(4);
    await insert([hour + 1, hour + 7001, hour + 14_001]);
    expect(await segments()).toEqual([null, null, null, 1000]);
    await extendCheckpoints(counted, never);
    expect([writes, await segments()]).toEqual([7, [1001, 1001, 1001, 1000]]);
  });

  it('A payment clears the count of its segment only when its status changes', async () => {
    await insert(spread(5000));
    await extendCheckpoints(database, never);
    const set = (state: PaymentState) =>
      database.write((transaction) =>
        transaction
          .updateTable('payments')
          .set({ state, updated_at: 1 })
          .where('id', '=', rows[500]?.id ?? '')
          .execute(),
      );
    await set('awaiting_funds');
    expect(await segments()).toEqual([1000, 1000, 1000, 1000]);
    await set('settled');
    expect(await segments()).toEqual([null, 1000, 1000, 1000]);
  });

  it('A list of customers is exact after one of them is blacklisted', async () => {
    const row = (index: number): CustomerTable => ({
      id: `C${String(index).padStart(6, '0')}`,
      merchant_id: 'M1',
      mode: 'test',
      person: '{}',
      email_index: `${index}@example.com`,
      phone_index: null,
      is_blacklisted: index % 2 === 0 ? 0 : 1,
      created_at: hour + index,
    });
    await database.write(async (transaction) => {
      for (let begin = 0; begin < 6000; begin += 500) {
        const values = Array.from({ length: 500 }, (_, index) => row(begin + index));
        await transaction.insertInto('customers').values(values).execute();
      }
    });
    const totals = () =>
      Promise.all(
        [undefined, false, true].map(async (isBlacklisted) => {
          const query = { page: 1, skip: 10, from: hour + 100, isBlacklisted };
          return (await listCustomers(database.reader, scope, query)).total;
        }),
      );
    await extendCheckpoints(database, never);
    expect(await totals()).toEqual([5900, 2950, 2950]);
    await database.write((transaction) =>
      transaction.updateTable('customers').set({ is_blacklisted: 1 }).where('id', '=', 'C003000').execute(),
    );
    expect(await totals()).toEqual([5900, 2949, 2951]);
    await extendCheckpoints(database, never);
    expect(await totals()).toEqual([5900, 2949, 2951]);
  });

  it('A list of subscribers is exact after one of them is removed', async () => {
    await insertSubscribers(database, 4000);
    await extendCheckpoints(database, never);
    const totals = () =>
      Promise.all(
        [undefined, true, false].map(
          async (isActive) =>
            (await listSubscribers(database.reader, scope, { page: 1, skip: 10, isActive })).total,
        ),
      );
    expect(await totals()).toEqual([4000, 4000, 0]);
    const set = (changes: Partial<SubscriberTable>, id: string) =>
      database.write((transaction) =>
        transaction.updateTable('subscribers').set(changes).where('id', '=', id).execute(),
      );
    await set({ is_active: 0, removed_at: hour }, 'S000500');
    await set({ is_active: 0 }, 'S001500');
    expect(await totals()).toEqual([3999, 3998, 1]);
    await extendCheckpoints(database, never);
    expect(await totals()).toEqual([3999, 3998, 1]);
  });

  it(
    'A long list stays exact while rows are inserted and checkpoints are added at the same time',
    { timeout: 60_000 },
    async () => {
      await insert(spread(4 * rowsPerCheckpoint));
      const settle = (id: string) =>
        database.write((transaction) =>
          transaction.updateTable('payments').set({ state: 'settled' }).where('id', '=', id).execute(),
        );
      const done = new AbortController();
      const extending = (async () => {
        while (!done.signal.aborted) {
          // On PostgreSQL it may time out waiting for inserts. The job retries then.
          await extendCheckpoints(database, never).catch((error: unknown) => {
            expect(error).toMatchObject({ code: '55P03' });
          });
        }
      })();
      await Promise.all(
        [1, 2, 3, 4].map(async (stream) => {
          for (let index = 0; index < 100; index += 1) {
            await insert([hour + Math.floor(Math.random() * 8000 * 7)]);
            await settle(pick(rows).id);
            if (index % 10 === stream) await pageOf({ page: 20, skip: 100 });
          }
        }),
      );
      done.abort();
      await extending;
      expect((await pageOf({ page: 1, skip: 1 })).total).toBe(4 * rowsPerCheckpoint + 400);
      const settled = () => listRecords(database.reader, scope, { page: 1, skip: 1, status: 'success' });
      const { count } = await database.reader
        .selectFrom('payments')
        .select((e) => e.fn.countAll<number>().as('count'))
        .where('state', '=', 'settled')
        .executeTakeFirstOrThrow();
      expect((await settled()).total).toBe(count);
      await expectAllPages();
      await extendCheckpoints(database, never);
      expect(await segments()).not.toContain(null);
      await expectAllPages();
    },
  );
});

async function insertRows(
  transaction: Transaction,
  merchantId: string,
  rows: readonly { createdAt: number; id: string }[],
): Promise<void> {
  const values = rows.map(({ createdAt, id }) => {
    const row = {
      id,
      merchant_id: merchantId,
      mode: 'test',
      state: 'created',
      tx_ref: id,
      payer: '{}',
      created_by: 'secret',
      is_redirect_trusted: 1,
      findings: 0,
      public_changes: 0,
      parts_version: 0,
      redirect_url: '',
      base_currency: 'NGN',
      base_amount: '1',
      fee_basis_points: 100,
      expires_at: createdAt,
      created_at: createdAt,
      updated_at: createdAt,
    } satisfies Partial<Schema['payments']>;
    // The cast is safe: all other columns are nullable.
    return row as unknown as Schema['payments'];
  });
  await transaction.insertInto('payments').values(values).execute();
}

const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T;

/** Subscribers of one plan, a millisecond apart. */
async function insertSubscribers(database: Database, count: number): Promise<void> {
  const own = { merchant_id: 'M1', mode: 'test' } as const;
  await database.write(async (transaction) => {
    await transaction
      .insertInto('payment_plans')
      .values({
        id: 'PLAN',
        ...own,
        plan_name: 'Monthly',
        frequency: 'monthly',
        currency: 'NGN',
        amount: '1',
        currencies: '[]',
        number_of_times_to_charge: 1,
        is_active: 1,
        active_since: 0,
        created_at: 0,
        updated_at: 0,
      })
      .execute();
    for (let index = 0; index < count; index += 500) {
      const numbers = Array.from({ length: 500 }, (_, offset) => String(index + offset).padStart(6, '0'));
      const customers = numbers.map((number) => ({
        id: `SC${number}`,
        ...own,
        person: '{}',
        email_index: `s${number}@example.com`,
        phone_index: null,
        is_blacklisted: 0 as const,
        created_at: 0,
      }));
      await transaction.insertInto('customers').values(customers).execute();
      const subscribers = numbers.map((number) => ({
        id: `S${number}`,
        ...own,
        plan_id: 'PLAN',
        customer_id: `SC${number}`,
        next_cycle: 0,
        charge_at: null,
        times_charged: 0,
        times_paid: 0,
        is_active: 1 as const,
        removed_at: null,
        created_at: hour + Number(number),
      }));
      await transaction.insertInto('subscribers').values(subscribers).execute();
    }
  });
}
