/** The address pool reserves indexes in blocks, gives out each one once, and derives addresses in advance. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAddressPool } from '../../src/core/addresses/address-pool.js';
import { type Database } from '../../src/core/db/database.js';
import type { Transaction } from '../../src/core/db/engine.js';
import { enginesOfTurn, type TestDatabase } from '../support/engines.js';
import { openDatabase } from '../../src/database.js';

describe.each(enginesOfTurn)('The address pool on $name', (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let time = 0;
  let derived: number[] = [];

  beforeEach(async () => {
    testDatabase = await engine.create();
    database = await openDatabase(testDatabase.url);
    time = 0;
    derived = [];
  });
  afterEach(async () => {
    await database.close();
    await testDatabase.dispose();
  });

  const source = (id = 'source') => ({
    id,
    descriptor: undefined,
    derive(index: number) {
      if (index >= 1000) throw new RangeError('There is no such child');
      derived.push(index);
      return `${id} ${index}`;
    },
  });
  const openPool = (id?: string) => createAddressPool(source(id), database, () => time);
  const take = (pool: ReturnType<typeof openPool>) => database.write((transaction) => pool.take(transaction));
  const nextIndex = async () => {
    const row = await database.reader.selectFrom('derivations').select('next_index').executeTakeFirst();
    return row?.next_index;
  };
  async function idle() {
    for (let before = -1; before !== derived.length; await nextTurn()) before = derived.length;
  }

  it('The pool gives out each index once, in order, with its own address', async () => {
    const pool = openPool();
    for (let index = 0; index < 100; index += 1) {
      expect(await take(pool)).toEqual({ index, address: `source ${index}` });
      if (index % 10 === 0) await idle();
    }
    expect(new Set(derived).size).toBe(derived.length);
  });

  it('The pool reserves larger blocks while they are used up quickly, and single indexes otherwise', async () => {
    const pool = openPool();
    const reserved: (number | undefined)[] = [];
    for (let taken = 0; taken < 8; taken += 1) {
      await take(pool);
      reserved.push(await nextIndex());
    }
    expect(reserved).toEqual([1, 3, 3, 7, 7, 7, 7, 15]);
    for (let taken = 8; taken < 15; taken += 1) await take(pool);
    time += 2000;
    await take(pool);
    expect(await nextIndex()).toBe(16);
  });

  it('The pool never reserves more than 64 indexes at once', async () => {
    const pool = openPool();
    let before = 0;
    for (let taken = 0; taken < 400; taken += 1) {
      await take(pool);
      const next = (await nextIndex()) ?? 0;
      expect(next - before).toBeLessThanOrEqual(64);
      before = next;
    }
  });

  it('The pool under load reserves the next block before the last is used up, in a transaction nobody waits for', async () => {
    const others = new Set<Transaction>();
    const refilling: Pick<Database, 'write'> = {
      write: (work) =>
        database.write((transaction) => {
          others.add(transaction);
          return work(transaction);
        }),
    };
    let taken = 0;
    let reservedByPayers = 0;
    const onReserve = (transaction: Transaction) => {
      // From the first of the large blocks on.
      if (taken >= 127 && !others.has(transaction)) reservedByPayers += 1;
    };
    const pool = createAddressPool(source(), refilling, () => time, onReserve);
    for (; taken < 500; taken += 1) await take(pool);
    expect(reservedByPayers).toBe(0);
    expect(await nextIndex()).toBeLessThanOrEqual(500 + 64 + 32);
  });

  it('The pool gives out no index whose reservation was rolled back', async () => {
    const pool = openPool();
    const taken = new Set<number>();
    for (let count = 0; count < 300; count += 1) {
      const attempt = database.write(async (transaction) => {
        const { index } = await pool.take(transaction);
        if (count % 3 === 0) throw new Error('Rolled back');
        return index;
      });
      const index = await attempt.catch(() => undefined);
      if (index === undefined) continue;
      expect(taken.has(index)).toBe(false);
      taken.add(index);
      expect(index).toBeLessThan((await nextIndex()) ?? 0);
    }
    expect(taken.size).toBe(200);
  });

  it('The pool reserves blocks for many who need an address at once, and not one index for each', async () => {
    let reservations = 0;
    const pool = createAddressPool(
      source(),
      database,
      () => time,
      () => (reservations += 1),
    );
    let arrived = 0;
    let goOn: () => void = () => undefined;
    const allAreHere = new Promise<void>((resolve) => (goOn = resolve));
    const taken = await Promise.all(
      Array.from({ length: 8 }, () =>
        database.write(async (transaction) => {
          // On SQLite, the next transaction begins when this one has ended.
          if (engine.name === 'PostgreSQL') {
            arrived += 1;
            if (arrived === 8) goOn();
            await allAreHere;
          }
          return pool.take(transaction);
        }),
      ),
    );
    // Two reservations, and one more for each wait that is given up while a busy machine commits. Then an index of the block that was
    // waited for comes later.
    if (engine.name === 'PostgreSQL') expect(reservations).toBeLessThanOrEqual(4);
    const indexes = taken.map(({ index }) => index);
    expect(new Set(indexes).size).toBe(8);
    expect(Math.max(...indexes)).toBeLessThan(16);
    // None is lost: those that were passed over come next.
    const given = new Set(indexes);
    while (given.size <= Math.max(...indexes)) {
      const { index } = await database.write((transaction) => pool.take(transaction));
      expect(given.has(index)).toBe(false);
      given.add(index);
      expect(given.size).toBeLessThan(32);
    }
    for (let index = 0; index < 8; index += 1) expect(given.has(index)).toBe(true);
  });

  it('Several pools that share a key never give out the same index', async () => {
    const pools = [openPool(), openPool(), openPool()];
    const taken = await Promise.all(
      Array.from({ length: 90 }, (_, count) => take(pools[count % 3] ?? openPool())),
    );
    expect(new Set(taken.map(({ index }) => index)).size).toBe(90);
  });

  it('The indexes of each key are counted separately', async () => {
    const [first, second] = [openPool('first'), openPool('second')];
    expect([await take(first), await take(second)]).toEqual([
      { index: 0, address: 'first 0' },
      { index: 0, address: 'second 0' },
    ]);
  });

  it('A block whose transaction was rolled back is discarded', async () => {
    const pool = openPool();
    await take(pool);
    const failed = database.write(async (transaction) => {
      await pool.take(transaction);
      throw new Error('Rolled back');
    });
    await expect(failed).rejects.toThrow('Rolled back');
    const taken = [await take(pool), await take(pool), await take(pool)];
    expect(new Set(taken.map(({ index }) => index)).size).toBe(3);
    expect(Math.min(...taken.map(({ index }) => index))).toBeGreaterThanOrEqual(1);
  });

  it('Reserved addresses are derived before they are taken', async () => {
    const pool = openPool();
    await take(pool);
    await take(pool);
    await idle();
    const ready = derived.length;
    await take(pool);
    expect(derived).toHaveLength(ready);
  });

  it('The pool fails only when an index that has no address is taken', async () => {
    await database.write((transaction) =>
      transaction.insertInto('derivations').values({ source_id: 'source', next_index: 999 }).execute(),
    );
    const pool = openPool();
    expect((await take(pool)).index).toBe(999);
    await idle();
    await expect(take(pool)).rejects.toThrow('There is no such child');
  });
});
