/** The reads that the ledger check relies on, on both engines: snapshots and exact sums of any size. */
import { once, EventEmitter } from 'node:events';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database } from '../../src/core/db/database.js';
import { sumUnits } from '../../src/core/db/units.js';
import { engines, type TestDatabase } from '../support/engines.js';
import type { Reader } from '../../src/core/db/engine.js';
import { openDatabase } from '../../src/database.js';

describe.each(engines)('a database, on $name', (engine) => {
  let made: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    made = await engine.create();
    database = await openDatabase(made.url);
  });
  afterEach(async () => {
    await database.close();
    await made.dispose();
  });

  const put = (id: string, balance: string) =>
    database.write((transaction) =>
      transaction
        .insertInto('ledger_accounts')
        .values({
          id,
          mode: 'test',
          kind: 'custody',
          currency: 'ETH',
          network: 'base',
          merchant_id: null,
          balance,
        })
        .execute(),
    );
  const total = async (reader: Reader) => {
    const { units } = await reader
      .selectFrom('ledger_accounts')
      .select(sumUnits(reader, 'balance').as('units'))
      .executeTakeFirstOrThrow();
    return units;
  };

  it('A database sums amounts exactly, beyond 64 bits', async () => {
    expect(await total(database.reader)).toBe('0');
    await put('a', '123456789012345678901234567890');
    await put('b', '1');
    await put('c', '-20');
    expect(await total(database.reader)).toBe('123456789012345678901234567871');
  });

  it('A snapshot stays unchanged while others write, and does not block them', async () => {
    await put('a', '1');
    const events = new EventEmitter();
    const hasBegun = once(events, 'begun');
    const isWritten = once(events, 'written');
    const reading = database.snapshot(async (reader) => {
      const before = await total(reader);
      events.emit('begun');
      await isWritten;
      return [before, await total(reader)];
    });
    await hasBegun;
    await put('b', '2');
    events.emit('written');
    expect(await reading).toEqual(['1', '1']);
    expect(await total(database.reader)).toBe('3');
  });
});

it.each(engines.filter(({ name }) => name === 'PostgreSQL'))(
  'the plans of $name are not compiled, which takes longer than the query of a deep page',
  async (engine) => {
    const made = await engine.create();
    const database = await openDatabase(made.url);
    const { rows } = await sql<{ jit: string }>`select current_setting('jit') as jit`.execute(
      database.reader,
    );
    expect(rows).toEqual([{ jit: 'off' }]);
    await database.close();
    await made.dispose();
  },
);
