/** Transactions on both engines: grouped commits, statements that are not awaited, and stale prepared statements. */
import { closeSync, mkdtempSync, openSync, readSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/core/db/database.js';
import type { Transaction } from '../../src/core/db/engine.js';
import { startCheckpoints } from '../../src/core/db/checkpoints.js';
import { createGroupCommit, type GroupConnection } from '../../src/core/db/group-commit.js';
import { openDatabase } from '../../src/database.js';
import { prepared, preparedSend } from '../../src/core/db/prepared.js';
import { send, together } from '../../src/core/db/send.js';
import { afterCommit } from '../../src/core/db/transaction-context.js';
import { engines, type TestDatabase } from '../support/engines.js';

const insertSetting = preparedSend((transaction, row: { readonly name: string; readonly value: string }) =>
  transaction.insertInto('settings').values(row),
);
const changeSetting = preparedSend(
  (transaction, { name, value }: { readonly name: string; readonly value: string }) =>
    transaction.updateTable('settings').set({ value }).where('name', '=', name),
);
const findSettings = prepared((reader, { value }: { readonly value: string }) =>
  reader.selectFrom('settings').selectAll().where('value', '=', value).orderBy('name'),
);

describe.each(engines)('transactions, on $name', (engine) => {
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

  const put = (name: string, value = 'x') =>
    database.write((transaction) => insertSetting(transaction, { name, value }));
  const names = async (value = 'x') =>
    (await findSettings(database.reader, { value })).map(({ name }) => name);

  it('Transactions that run at once all commit, and each is visible once it has', async () => {
    const all = Array.from({ length: 60 }, (_, index) => `n${String(index).padStart(2, '0')}`);
    await Promise.all(
      all.map(async (name) => {
        await put(name);
        // An acknowledged write is visible on every connection.
        expect(await names()).toContain(name);
      }),
    );
    expect(await names()).toEqual(all);
  });

  it('Transactions that fail roll back only themselves', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        database.write(async (transaction) => {
          await insertSetting(transaction, { name: `n${index}`, value: 'x' });
          if (index % 3 === 0) throw new Error(`No ${index}`);
          return index;
        }),
      ),
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual(
      outcomes.map((_, index) => (index % 3 === 0 ? 'rejected' : 'fulfilled')),
    );
    expect(await names()).toHaveLength(20);
  });

  it('Transactions call back after they commit, and not if they fail', async () => {
    const called: string[] = [];
    const run = (name: string, isFailing: boolean) =>
      database.write(async (transaction) => {
        afterCommit(transaction, () => called.push(name));
        await insertSetting(transaction, { name, value: 'x' });
        expect(called).not.toContain(name);
        if (isFailing) throw new Error('No');
      });
    await Promise.allSettled([run('a', false), run('b', true), run('c', false)]);
    expect(called.sort()).toEqual(['a', 'c']);
  });

  it('A transaction refuses the outer handle, which could deadlock with it', async () => {
    const refused = 'use the transaction handle instead';
    await expect(database.write(() => findSettings(database.reader, { value: 'x' }))).rejects.toThrow(
      refused,
    );
    await expect(database.write(() => put('a'))).rejects.toThrow(refused);
    await expect(
      database.snapshot(() => database.reader.selectFrom('settings').selectAll().execute()),
    ).rejects.toThrow(refused);
    await put('b');
    expect(await names()).toEqual(['b']);
  });

  it('A transaction fails with the error of a statement that was not awaited', async () => {
    await put('a');
    const failing = database.write(async (transaction) => {
      await send(transaction, transaction.insertInto('settings').values({ name: 'a', value: 'y' }));
      await insertSetting(transaction, { name: 'b', value: 'y' });
    });
    await expect(failing).rejects.toThrow(/unique|duplicate/i);
    const reading = database.write(async (transaction) => {
      await send(transaction, transaction.insertInto('settings').values({ name: 'a', value: 'y' }));
      return findSettings(transaction, { value: 'y' });
    });
    await expect(reading).rejects.toThrow(/unique|duplicate/i);
    expect(await names('y')).toEqual([]);
    await put('c', 'y');
    expect(await names('y')).toEqual(['c']);
  });

  it('A transaction runs its statements in order, even if many are started at once', async () => {
    const seen = await database.write(async (transaction) => {
      const found = [];
      for (const name of ['a', 'b', 'c']) {
        void insertSetting(transaction, { name, value: 'x' });
        found.push(findSettings(transaction, { value: 'x' }));
      }
      return Promise.all(found);
    });
    expect(seen.map((rows) => rows.map(({ name }) => name))).toEqual([['a'], ['a', 'b'], ['a', 'b', 'c']]);
  });

  it('Statements that are sent together are all written, each value where it belongs', async () => {
    await put('changed', 'old');
    for (const [first, second] of [
      ['a', 'b'],
      ['c', 'd'],
    ] as const) {
      const result = await database.write((transaction) =>
        together(transaction, async () => {
          await insertSetting(transaction, { name: first, value: `of ${first}` });
          await changeSetting(transaction, { name: 'changed', value: `by ${first}` });
          await together(transaction, () =>
            insertSetting(transaction, { name: second, value: `of ${second}` }),
          );
          return first;
        }),
      );
      expect(result).toBe(first);
    }
    const rows = await sql<{ name: string; value: string }>`
      select name, value from settings where name in ('a', 'b', 'c', 'd', 'changed') order by name`.execute(
      database.reader,
    );
    expect(rows.rows.map(({ name, value }) => `${name} ${value}`)).toEqual([
      'a of a',
      'b of b',
      'c of c',
      'changed by c',
      'd of d',
    ]);
  });

  it('Statements that are sent together write nothing if one of them fails', async () => {
    await put('taken');
    const failed = database.write((transaction) =>
      together(transaction, async () => {
        await insertSetting(transaction, { name: 'free', value: 'x' });
        await insertSetting(transaction, { name: 'taken', value: 'x' });
      }),
    );
    await expect(failed).rejects.toThrow(/unique/i);
    expect(await names()).toEqual(['taken']);
  });

  it('A statement that was skipped because the one before it failed is prepared again', async () => {
    await put('taken');
    const findOthers = prepared((reader, { name }: { readonly name: string }) =>
      reader.selectFrom('settings').select('name').where('name', '<>', name).where('value', '=', 'x'),
    );
    const failed = database.write(async (transaction) => {
      await insertSetting(transaction, { name: 'taken', value: 'x' });
      return findOthers(transaction, { name: 'other' });
    });
    await expect(failed).rejects.toThrow(/unique/i);
    const found = await database.write((transaction) => findOthers(transaction, { name: 'other' }));
    expect(found).toEqual([{ name: 'taken' }]);
  });

  it('A transaction with a value that cannot be written fails, and writes nothing', async () => {
    const endless: Record<string, unknown> = {};
    endless.self = endless;
    const failed = database.write(async (transaction) => {
      void insertSetting(transaction, { name: 'before', value: 'x' });
      const unwritable = sql`insert into settings (name, value) values ('bad', ${endless})`;
      await send(transaction, { compile: () => unwritable.compile(transaction) });
      await insertSetting(transaction, { name: 'behind', value: 'x' });
    });
    await expect(failed).rejects.toThrow();
    expect(await names()).toEqual([]);
    await put('after');
    expect(await names()).toEqual(['after']);
  });

  it('Reads and transactions continue after a table change makes a prepared statement stale', async () => {
    await put('a');
    for (let read = 0; read < 3; read += 1) expect(await names()).toEqual(['a']);
    // Another release's migration.
    const change = async (column: string) => {
      const other = await openDatabase(made.url);
      await sql`alter table settings add column ${sql.id(column)} text`.execute(other.reader);
      await other.close();
    };
    await change('note');
    expect(await names()).toEqual(['a']);
    await change('another');
    const read = () => database.write((transaction) => findSettings(transaction, { value: 'x' }));
    await expect(read()).resolves.toMatchObject([{ name: 'a', note: null, another: null }]);
  });

  it('Transactions work without prepared statements', async () => {
    const plain = await openDatabase(made.url, { hasPreparedStatements: false });
    for (const name of ['a', 'b', 'c']) {
      await plain.write((transaction) => insertSetting(transaction, { name, value: 'x' }));
    }
    expect((await findSettings(plain.reader, { value: 'x' })).length).toBe(3);
    await plain.close();
  });
});

/** The transactions below run no statements. */
it('A server on SQLite copies the log into the database while it runs, in a thread that ends with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'checkpoints-'));
  const path = join(folder, 'data.sqlite');
  try {
    const database = await openDatabase(`sqlite:${path}`, { isServer: true });
    const before = statSync(path).size;
    // A server that writes little needs no thread.
    for (let count = 0; count < 200; count += 1)
      await database.write((transaction) => insertSetting(transaction, { name: `n${count}`, value: 'x' }));
    // Far fewer pages than those after which a commit copies them.
    await database.write((transaction) =>
      insertSetting(transaction, { name: 'a', value: 'x'.repeat(1_000_000) }),
    );
    expect(statSync(path).size).toBe(before);
    await expect.poll(() => statSync(path).size, { timeout: 20_000 }).toBeGreaterThan(before + 1_000_000);
    await database.write((transaction) => insertSetting(transaction, { name: 'b', value: 'x' }));
    await database.close();
    expect(readdirSync(folder).filter((name) => /-wal|-shm/.test(name))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('The log of SQLite starts again although commits never pause: after the thread, a commit copies the last pages', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'checkpoints-'));
  const path = join(folder, 'data.sqlite');
  const connection = new SqliteDatabase(path);
  try {
    connection.pragma('journal_mode = WAL');
    connection.pragma('wal_autocheckpoint = 0');
    connection.exec('create table pages (content)');
    /** It is another one after each start of the log. */
    const salt = () => {
      const [file, bytes] = [openSync(`${path}-wal`, 'r'), Buffer.alloc(8)];
      readSync(file, bytes, 0, bytes.length, 16);
      closeSync(file);
      return bytes.toString('hex');
    };
    const logs: { salt: string; pages: number; copied: number }[] = [];
    const failures: string[] = [];
    const checkpoint = () => {
      const [pages] = connection.pragma('wal_checkpoint(passive)') as { log: number; checkpointed: number }[];
      logs.push({ salt: salt(), pages: pages?.log ?? 0, copied: pages?.checkpointed ?? 0 });
    };
    const checkpoints = startCheckpoints(
      path,
      { checkpoint, checkpointEvery: () => undefined },
      (reason) => failures.push(reason),
      400,
    );
    try {
      // A server that writes little needs no thread.
      for (let count = 0; count < 200; count += 1) checkpoints.changed();
      const insert = connection.prepare('insert into pages values (zeroblob(3 * 4096))');
      for (const end = Date.now() + 30_000; logs.length < 2 && Date.now() < end;) {
        insert.run();
        checkpoints.changed();
        await delay(1);
      }
    } finally {
      await checkpoints.close();
    }
    expect(failures).toEqual([]);
    expect(logs.map(({ pages, copied }) => pages > 0 && copied === pages)).toEqual([true, true]);
    expect(new Set(logs.map((log) => log.salt)).size).toBe(2);
  } finally {
    connection.close();
    rmSync(folder, { recursive: true });
  }
});

const noTransaction = {} as unknown as Transaction;
const unchanged: GroupConnection = { run: () => undefined, changes: () => 0, isOpen: () => true };

describe('a group of transactions', () => {
  it('A group that cannot commit fails completely, and the next group works', async () => {
    let isBroken = true;
    const write = createGroupCommit(async (work) => {
      await work(noTransaction);
      if (isBroken) throw new Error('The disk is full');
    }, unchanged);
    const outcomes = await Promise.allSettled([1, 2, 3].map((value) => write(() => Promise.resolve(value))));
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected', 'rejected']);
    isBroken = false;
    expect(await write(() => Promise.resolve(4))).toBe(4);
  });

  it('A long transaction shares its commit with no other', async () => {
    const groups: number[][] = [];
    const write = createGroupCommit(async (work) => {
      groups.push([]);
      await work(noTransaction);
    }, unchanged);
    const run = (value: number) => write(() => Promise.resolve(void groups.at(-1)?.push(value)), value === 3);
    await Promise.all([1, 2, 3, 4, 5].map(run));
    expect(groups).toEqual([[1, 2], [3], [4, 5]]);
  });

  it('A group without failures needs no savepoint, and after one that had written, all run again in their own', async () => {
    const statements: string[] = [];
    const ran: number[] = [];
    let changes = 0;
    const write = createGroupCommit((work) => work(noTransaction), {
      ...unchanged,
      run: (statement) => statements.push(statement),
      changes: () => changes,
    });
    const run = (value: number, isFailing = false, isWriting = true) =>
      write(async () => {
        ran.push(value);
        if (isWriting) changes += 1;
        await Promise.resolve();
        if (isFailing) throw new Error(`No ${value}`);
        return value;
      });
    await Promise.all([run(1), run(2)]);
    // A request that is refused has written nothing.
    await Promise.allSettled([run(3), run(4, true, false), run(5)]);
    expect({ ran, statements }).toEqual({ ran: [1, 2, 3, 4, 5], statements: [] });
    const outcomes = await Promise.allSettled([run(6), run(7, true), run(8)]);
    expect(outcomes).toMatchObject([
      { status: 'fulfilled', value: 6 },
      { status: 'rejected', reason: { message: 'No 7' } },
      { status: 'fulfilled', value: 8 },
    ]);
    expect(ran.slice(5)).toEqual([6, 7, 6, 7, 8]);
    expect(statements).toEqual([
      ...['savepoint own', 'rollback to own', 'release own'],
      ...['savepoint own', 'release own'],
    ]);
  });

  it('A member that fails learns so after the commit, because its reason may be a row of another member', async () => {
    const events: string[] = [];
    const write = createGroupCommit(async (work) => {
      await work(noTransaction);
      events.push('commit');
    }, unchanged);
    const refused = () => Promise.reject(new Error('The reference is taken'));
    await Promise.allSettled([
      write(() => Promise.resolve()),
      write(refused).catch(() => events.push('refused')),
    ]);
    expect(events).toEqual(['commit', 'refused']);
  });

  it('A member that catches the error with which SQLite rolled back commits nothing, and neither do the others', async () => {
    let isOpen = true;
    const write = createGroupCommit((work) => work(noTransaction), { ...unchanged, isOpen: () => isOpen });
    const ran: number[] = [];
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map((value) =>
        write(() => {
          ran.push(value);
          isOpen = value !== 2;
          return Promise.resolve(value);
        }),
      ),
    );
    expect(ran.slice(0, 2)).toEqual([1, 2]);
    expect(outcomes.slice(0, 2)).toMatchObject([
      { status: 'rejected', reason: { name: 'DatabaseUnavailable' } },
      { status: 'rejected', reason: { name: 'DatabaseUnavailable' } },
    ]);
  });

  it('A group that cannot begin fails only its first transaction', async () => {
    let attempts = 0;
    const write = createGroupCommit(async (work) => {
      attempts += 1;
      if (attempts === 1) throw new Error('The database is locked');
      await work(noTransaction);
    }, unchanged);
    const outcomes = await Promise.allSettled([1, 2].map((value) => write(() => Promise.resolve(value))));
    expect(outcomes).toMatchObject([
      { status: 'rejected', reason: { message: 'The database is locked' } },
      { status: 'fulfilled', value: 2 },
    ]);
  });
});
