/** Checkpoints count and page long lists exactly, wherever and whenever rows are inserted. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database } from '../../src/db/database.js';
import { extendCheckpoints, locatePage, rowsPerCheckpoint, startsAt } from '../../src/db/list-checkpoints.js';
import type { CustomerTable, PaymentTable } from '../../src/db/schema.js';
import { engines, type TestDatabase } from '../support/engines.js';
import type { Transaction } from '../../src/db/engine.js';
import type { PageRequest } from '../../src/shared/pagination.js';
import { openDatabase } from '../../src/db/open.js';

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
            ...{ id, name: id, business_name: id, logo: '', fee_basis_points: 100 },
            ...{
              support_url: '',
              transfers: 'any',
              daily_limits: '{}',
              daily_refunds: '{}',
              auto_refund: '{}',
              created_at: 0,
              updated_at: 0,
            },
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
  const checkpoints = async () =>
    (
      await database.reader
        .selectFrom('list_checkpoints')
        .select('ordinal')
        .where('merchant_id', '=', 'M1')
        .orderBy('ordinal')
        .execute()
    ).map(({ ordinal }) => ordinal);

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

  /** The same, found by sorting all rows. */
  function expected({ page, skip, from = 0, to = Infinity }: PageRequest) {
    const matching = rows
      .filter(({ createdAt }) => createdAt >= from && createdAt <= to)
      .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
    const begin = (page - 1) * skip;
    return { total: matching.length, ids: matching.slice(begin, begin + skip).map(({ id }) => id) };
  }

  async function expectAllPages() {
    const times = [hour - 1, hour + 7000, hour + 7003, hour + 34_993];
    for (const [from, to] of [[], ...times.flatMap((from) => [[from], ...times.map((to) => [from, to])])]) {
      for (const page of [1, 11, 12, 30, 50, 51, 9999]) {
        const range = { page, skip: 100, from, to };
        expect({ range, ...(await pageOf(range)) }).toEqual({ range, ...expected(range) });
      }
    }
  }

  it('has a checkpoint at every thousandth row, except among the newest', async () => {
    await insert(spread(5500));
    await insert(spread(1999), 'M2');
    await extendCheckpoints(database, never);
    expect(await checkpoints()).toEqual([1000, 2000, 3000, 4000]);
    await insert(spread(500, 2 * hour));
    await extendCheckpoints(database, never);
    expect(await checkpoints()).toEqual([1000, 2000, 3000, 4000, 5000]);
  });

  it('is counted and paged the same with and without checkpoints', { timeout: 60_000 }, async () => {
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

  it('loses the checkpoints after a row that is inserted late, and gets them back', async () => {
    await insert(spread(5000));
    await extendCheckpoints(database, never);
    await insert([hour + 2500 * 7 + 1]);
    expect(await checkpoints()).toEqual([1000, 2000]);
    expect((await pageOf({ page: 1, skip: 1 })).total).toBe(5001);
    await extendCheckpoints(database, never);
    expect(await checkpoints()).toEqual([1000, 2000, 3000, 4000]);
    await expectAllPages();
  });

  it('is exact for a filter, even after a row moves from one filter to the other', async () => {
    const row = (index: number): CustomerTable => ({
      ...{ id: `C${String(index).padStart(6, '0')}`, merchant_id: 'M1', mode: 'test' },
      ...{ person: '{}', email_index: `${index}@example.com`, phone_index: null },
      ...{ is_blacklisted: index % 2 === 0 ? 0 : 1 },
      ...{ created_at: hour + index },
    });
    await database.write(async (transaction) => {
      for (let begin = 0; begin < 6000; begin += 500) {
        const values = Array.from({ length: 500 }, (_, index) => row(begin + index));
        await transaction.insertInto('customers').values(values).execute();
      }
    });
    await extendCheckpoints(database, never);
    const found = async () => {
      const lists = ['customers', 'customers.allowed', 'customers.blacklisted'] as const;
      return Promise.all(
        lists.map(async (list) => {
          const checkpointed = await database.reader
            .selectFrom('list_checkpoints')
            .select('ordinal')
            .where('list', '=', list)
            .execute();
          const range = { page: 1, skip: 10, from: hour + 100 };
          return [(await locatePage(database.reader, list, scope, range)).total, checkpointed.length];
        }),
      );
    };
    expect(await found()).toEqual([
      [5900, 5],
      [2950, 2],
      [2950, 2],
    ]);
    await database.write((transaction) =>
      transaction.updateTable('customers').set({ is_blacklisted: 1 }).where('id', '=', 'C003000').execute(),
    );
    expect(await found()).toEqual([
      [5900, 3],
      [2949, 1],
      [2951, 1],
    ]);
    await extendCheckpoints(database, never);
    expect(await found()).toEqual([
      [5900, 5],
      [2949, 1],
      [2951, 2],
    ]);
  });

  it(
    'stays exact while rows are inserted and checkpoints are added at the same time',
    { timeout: 60_000 },
    async () => {
      await insert(spread(4 * rowsPerCheckpoint));
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
            if (index % 10 === stream) await pageOf({ page: 20, skip: 100 });
          }
        }),
      );
      done.abort();
      await extending;
      expect((await pageOf({ page: 1, skip: 1 })).total).toBe(4 * rowsPerCheckpoint + 400);
      const ordinals = await database.reader
        .selectFrom('list_checkpoints')
        .selectAll()
        .where('list', '=', 'payments')
        .execute();
      const sorted = [...rows].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
      for (const { ordinal, id } of ordinals) expect(sorted[ordinal - 1]?.id).toBe(id);
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
      ...{ id, merchant_id: merchantId, mode: 'test', state: 'created', tx_ref: id, payer: '{}' },
      ...{ created_by: 'secret', is_redirect_trusted: 1, public_changes: 0, parts_version: 0 },
      ...{ redirect_url: '', base_currency: 'NGN', base_amount: '1', transaction_fees: '0' },
      ...{ fee_basis_points: 100, expires_at: createdAt, created_at: createdAt, updated_at: createdAt },
    } satisfies Partial<PaymentTable>;
    // The cast is safe: all other columns are nullable.
    return row as unknown as PaymentTable;
  });
  await transaction.insertInto('payments').values(values).execute();
}
