/**
 * Deposit addresses are found among strangers' addresses, no matter who added them and when, and few are looked up in
 * the database.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createWatchedAddresses, type WatchedAddresses } from '../../src/core/addresses/watched-addresses.js';
import type { Database } from '../../src/core/db/database.js';
import type { Transaction } from '../../src/core/db/engine.js';
import { openDatabase } from '../../src/database.js';
import { newId } from '../../src/core/shared/ids.js';
import { testAddress } from '../chains/fixture.js';
import { enginesOfTurn, type TestDatabase } from '../support/engines.js';
import { startServer } from '../support/server.js';

describe.each(enginesOfTurn)('Watched addresses on $name', (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let watched: WatchedAddresses;
  let walletId: string;
  let index = 0;
  let time = 0;

  beforeAll(async () => {
    testDatabase = await engine.create();
    // It creates a merchant.
    const server = await startServer({ engine, databaseUrl: testDatabase.url });
    const { merchantId } = server.bootstrapped;
    await server.stop();
    database = await openDatabase(testDatabase.url);
    walletId = newId();
    const wallet = {
      id: walletId,
      merchant_id: merchantId,
      mode: 'test',
      currency: 'ETH',
      label: '',
    } as const;
    await database.write(async (transaction) => {
      await transaction
        .insertInto('wallets')
        .values({ ...wallet, created_at: 0, deleted_at: null })
        .execute();
    });
  });
  beforeEach(() => {
    watched = createWatchedAddresses(database, () => time);
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.dispose();
  });

  async function insert(transaction: Transaction, addresses: readonly string[]): Promise<void> {
    for (const address of addresses) {
      index += 1;
      const owner = { payment_id: null, wallet_id: walletId, currency: 'ETH', network: `network ${index}` };
      const source = { source_id: 'source', derivation_index: index, created_at: 0 };
      await transaction
        .insertInto('addresses')
        .values({ id: newId(), mode: 'test', address, ...owner, ...source })
        .execute();
    }
  }
  const add = (...addresses: string[]) => database.write((transaction) => insert(transaction, addresses));
  const find = async (...addresses: string[]) => [...(await watched.find('test', addresses))].sort();
  const strangers = Array.from({ length: 1000 }, (_, number) => `stranger ${number}`);

  /** Waits until the addresses have been loaded into memory. */
  async function load(): Promise<void> {
    await find('anything');
    for (;;) {
      const before = watched.lookups();
      await find('stranger');
      if (watched.lookups() === before) return;
    }
  }

  it('Watched addresses are found before and after they were loaded, in their mode only', async () => {
    await add('a0', 'b0');
    expect(await find('a0', 'x')).toEqual(['a0']);
    await load();
    expect(await find('a0', 'x', 'b0')).toEqual(['a0', 'b0']);
    expect(await watched.find('live', ['a0', 'b0'])).toEqual(new Set());
  });

  it('A watched EVM address is found in lower case too, and returned as it was asked', async () => {
    const address = testAddress('evm', 7);
    await add(address);
    const lower = address.toLowerCase();
    expect(await find(lower)).toEqual([lower]);
    await load();
    expect(await find(lower)).toEqual([lower]);
    expect(await find(address)).toEqual([address]);
  });

  it('Addresses that another process adds are found at once', async () => {
    await load();
    const other = await openDatabase(testDatabase.url);
    await other.write((transaction) => insert(transaction, ['a1']));
    expect(await find('a1')).toEqual(['a1']);
    await other.close();
    await add('b1');
    expect(await find('a1', 'b1')).toEqual(['a1', 'b1']);
  });

  it('Addresses of strangers are rarely looked up', async () => {
    await add('a2');
    await load();
    const before = watched.lookups();
    expect(await find(...strangers, 'a2')).toEqual(['a2']);
    expect(watched.lookups() - before).toBeLessThan(5);
  });

  it('An address whose transaction failed is not watched, and one that is added after it is found', async () => {
    await load();
    const failing = database.write(async (transaction) => {
      await insert(transaction, ['a3']);
      throw new Error('It fails');
    });
    await expect(failing).rejects.toThrow('It fails');
    await add('b3');
    expect(await find('a3', 'b3')).toEqual(['b3']);
  });

  describe('Addresses lost in a failover to a standby that lagged', () => {
    /** The numbers of two addresses that were read, and that are lost then. */
    async function lose(): Promise<readonly [number, number]> {
      const names = [`lost ${index}`, `lost ${index + 1}`];
      await add(`kept ${index}`, ...names);
      await load();
      const lost = database.reader.selectFrom('addresses').where('address', 'in', names);
      const [first, second] = await lost.select('sequence').orderBy('sequence').execute();
      await database.write((transaction) =>
        transaction.deleteFrom('addresses').where('address', 'in', names).execute(),
      );
      if (!first || !second) throw new Error('The addresses were not stored');
      return [first.sequence, second.sequence];
    }
    async function addAs(address: string, sequence: number): Promise<void> {
      await add(address);
      await database.write((transaction) =>
        transaction.updateTable('addresses').set({ sequence }).where('address', '=', address).execute(),
      );
    }

    it('Addresses that get the numbers of lost ones are found, all in one call', async () => {
      const [first, second] = await lose();
      await addAs('c1', first);
      await addAs('c2', second);
      await add('c3');
      expect(await find('c1', 'c2', 'c3')).toEqual(['c1', 'c2', 'c3']);
    });

    it('Addresses that get the numbers of lost ones are found, one after the other', async () => {
      const [first, second] = await lose();
      await addAs('d1', first);
      expect(await find('d1')).toEqual(['d1']);
      await addAs('d2', second);
      expect(await find('d1', 'd2')).toEqual(['d1', 'd2']);
    });

    it('An address that gets a lost number is found, even if the newest number goes to the same address as before', async () => {
      const [first, second] = await lose();
      await addAs('e1', first);
      await addAs(`lost ${index - 3}`, second);
      expect(await find('e1')).toEqual(['e1']);
    });

    it('A loss is noticed once: the call after that reads a single row', async () => {
      await lose();
      await find('x');
      const { reader } = database;
      let rows = 0;
      watched = createWatchedAddresses(
        {
          ...database,
          reader: reader.withPlugin({
            transformQuery: ({ node }) => node,
            transformResult: ({ result }) => {
              rows += result.rows.length;
              return Promise.resolve(result);
            },
          }),
        },
        () => time,
      );
      await load();
      await lose();
      rows = 0;
      await find('x');
      expect(rows).toBeGreaterThan(5);
      rows = 0;
      await find('x');
      expect(rows).toBe(1);
    });
  });

  // SQLite has one writer.
  if (engine.name === 'PostgreSQL') {
    it('An address is found if its transaction commits after a later one', async () => {
      await load();
      let commit = () => {};
      const mayCommit = new Promise<void>((resolve) => {
        commit = resolve;
      });
      let inserted = () => {};
      const isInserted = new Promise<void>((resolve) => {
        inserted = resolve;
      });
      const slow = database.write(async (transaction) => {
        await insert(transaction, ['slow']);
        // Statements travel together. A read waits for them.
        await transaction.selectFrom('addresses').select('id').execute();
        inserted();
        await mayCommit;
      });
      await isInserted;
      await add('fast');
      expect(await find('slow', 'fast')).toEqual(['fast']);
      time += 500_000;
      commit();
      await slow;
      expect(await find('slow', 'fast')).toEqual(['fast', 'slow']);
    });
  }
});
