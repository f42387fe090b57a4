/** Public reports of errors of databases that reached callers as bugs: they are a 503 that says when to retry, and the connection is clean afterwards. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../src/core/db/database.js';
import type { Transaction } from '../../src/core/db/engine.js';
import { isStalePlan, outageReason } from '../../src/core/db/errors.js';
import { openDatabase } from '../../src/database.js';
import { prepared } from '../../src/core/db/prepared.js';
import { isolate } from '../../src/core/db/savepoint.js';
import { send } from '../../src/core/db/send.js';
import { call } from '../support/call.js';
import { runCommandLine } from '../support/command-line.js';
import { engines, sqlite, type TestDatabase } from '../support/engines.js';
import { openAddress } from '../support/moving-address.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';

const [postgres] = engines.filter(({ name }) => name === 'PostgreSQL');
const ready = async ({ url }: TestServer) => call(url, 'GET', '/readyz');

/** By SQLSTATE, with where it comes from. */
const passing = {
  '08000': 'connection exception',
  '08006': 'connection failure',
  '08P01': 'PgBouncer: query_wait_timeout, no more connections allowed, server login failed',
  25006: 'read-only (HikariCP#1802, npgsql/efcore.pg#1306, gpustack#6105)',
  '25P03': 'idle in a transaction for too long',
  26000: 'a pooler that forgets prepared statements (prisma#21877)',
  '42P05': 'a pooler that mixes them up (prisma#4752)',
  40001: 'serialization failure, beyond all attempts',
  '40P01': 'deadlock, beyond all attempts',
  53200: 'out of memory',
  53300: 'too many connections (supabase, RDS)',
  53400: 'configuration limit exceeded',
  '55P03': 'lock not available',
  57014: 'cancelled, or statement_timeout (pg-promise#566)',
  '57P01': 'the administrator shuts it down',
  '57P02': 'crash shutdown',
  '57P03': 'it starts up or recovers',
  '57P05': 'idle session',
  58000: 'system error',
  58030: 'I/O error',
};

describe.skipIf(!postgres)('PostgreSQL', () => {
  let made: TestDatabase;
  let other: Database;
  let server: TestServer | undefined;
  beforeEach(async () => {
    if (!postgres) return;
    made = await postgres.create();
    other = await openDatabase(made.url);
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
    await other.close();
    await made.dispose();
  });

  const start = async () => {
    if (!postgres) throw new Error('There is no PostgreSQL');
    server = await startServer({ engine: postgres, databaseUrl: made.url });
    return server;
  };
  /** Runs with each insert of a payment, before it. */
  const onInsert = async (statement: string) => {
    await sql.raw(`drop function if exists act cascade`).execute(other.reader);
    await sql
      .raw(
        `create function act() returns trigger language plpgsql as $$ begin ${statement}; return new; end $$`,
      )
      .execute(other.reader);
    await sql
      .raw('create trigger act before insert on payments for each row execute function act()')
      .execute(other.reader);
  };

  it('An error of PostgreSQL is a 503 with Retry-After if a retry may help, and a 500 if it is a bug', async () => {
    const running = await start();
    const replies: Record<string, unknown> = {};
    for (const code of [...Object.keys(passing), '22012', '23514']) {
      await onInsert(`raise exception 'as reported' using errcode = '${code}'`);
      const { status, headers, body } = await openShop(running).checkout();
      replies[code] = [status, body.data.code, headers.has('retry-after')];
    }
    const expected = Object.keys(passing).map((code) => [code, [503, 'service_unavailable', true]] as const);
    const bug = [500, 'internal_error', false];
    expect(replies).toEqual({ ...Object.fromEntries(expected), 22012: bug, 23514: bug });
    await sql.raw('drop function act cascade').execute(other.reader);
    await expect.poll(async () => (await ready(running)).status, { timeout: 10_000 }).toBe(200);
    for (let index = 0; index < 20; index += 1) expect((await openShop(running).checkout()).status).toBe(200);
  });

  // pg-promise#566, brianc/node-postgres#154: the connection came back to the pool in an aborted transaction
  it('A request whose statement is cancelled gets a 503, and the pool hands out no aborted transaction', async () => {
    const running = await start();
    await onInsert('perform pg_sleep(20)');
    const cancelled = Promise.all(Array.from({ length: 8 }, () => openShop(running).checkout()));
    const isOver = { value: false };
    const cancelling = (async () => {
      while (!isOver.value) {
        await sql`select pg_cancel_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event = 'PgSleep'`.execute(other.reader);
        await delay(20);
      }
    })();
    const answers = await cancelled;
    isOver.value = true;
    await cancelling;
    expect([...new Set(answers.map(({ status, body }) => `${status} ${String(body.data.code)}`))]).toEqual([
      '503 service_unavailable',
    ]);
    await sql.raw('drop function act cascade').execute(other.reader);
    const after = await Promise.all(Array.from({ length: 30 }, () => openShop(running).checkout()));
    expect([...new Set(after.map(({ status }) => status))]).toEqual([200]);
  });

  /** Cancels or ends the statement that sleeps. */
  const stop = async (how: 'pg_cancel_backend' | 'pg_terminate_backend') => {
    const find = async () => {
      const { rows } = await sql<{
        is_done: boolean;
      }>`select ${sql.raw(how)}(pid) as is_done from pg_stat_activity
        where datname = current_database() and wait_event = 'PgSleep'`.execute(other.reader);
      return rows.length;
    };
    await expect.poll(find, { timeout: 10_000 }).toBeGreaterThan(0);
  };

  // "current transaction is aborted, commands ignored until end of transaction block"
  it('A transaction reports its first error, and not those of the statements behind it', async () => {
    const database = await openDatabase(made.url);
    for (const [how, code] of [
      ['pg_cancel_backend', '57014'],
      ['pg_terminate_backend', '57P01'],
    ] as const) {
      const errors: unknown[] = [];
      const failing = database.write(async (transaction) => {
        const statements = ['select pg_sleep(20)', 'select 1', 'select 2'];
        const results = await Promise.allSettled(
          statements.map((text) => sql.raw(text).execute(transaction)),
        );
        for (const result of results) errors.push(result.status === 'rejected' ? result.reason : undefined);
        throw errors[2];
      });
      await Promise.all([expect(failing).rejects.toMatchObject({ code }), stop(how)]);
      expect(errors).toMatchObject([{ code }, { code }, { code }]);
    }
    await expect(database.ping()).resolves.toBeUndefined();
    await database.close();
  });

  it('A transaction that PostgreSQL has rolled back is not reported as committed', async () => {
    const database = await openDatabase(made.url);
    const swallowed = database.write(async (transaction) => {
      await transaction.insertInto('settings').values({ name: 'lost', value: 'x' }).execute();
      await sql`select 1 / 0`.execute(transaction).catch(() => undefined);
    });
    await expect(swallowed).rejects.toMatchObject({ code: '22012' });
    await database.close();
  });

  // A write of its own behind BEGIN, before its reply is here, would commit. PostgreSQL skips those that are sent together with it.
  it.each(['a write', 'a read'])(
    'A transaction whose BEGIN was refused writes nothing: %s first',
    async (first) => {
      let isRefused = false;
      const address = await openAddress(made.url, (bytes) =>
        isRefused ? Buffer.from(bytes.toString('latin1').replace('begin', 'bogus'), 'latin1') : bytes,
      );
      const database = await openDatabase(address.url);
      await database.ping();
      isRefused = true;
      const failing = database.write(async (transaction) => {
        if (first === 'a read') await sql`select 1`.execute(transaction);
        await send(transaction, transaction.insertInto('settings').values({ name: 'first', value: 'x' }));
        await transaction.insertInto('settings').values({ name: 'second', value: 'x' }).execute();
      });
      await expect(failing).rejects.toMatchObject({ code: '42601' });
      isRefused = false;
      const names = other.reader
        .selectFrom('settings')
        .select('name')
        .where('name', 'in', ['first', 'second']);
      expect(await names.execute()).toEqual([]);
      await database.close();
      await address.stop();
    },
  );

  it('A transaction sends BEGIN with its first write, and COMMIT with its last', async () => {
    const sent: string[] = [];
    const address = await openAddress(made.url, (bytes) => {
      sent.push(bytes.toString('latin1'));
      return bytes;
    });
    const database = await openDatabase(address.url);
    await database.write((transaction) => send(transaction, add(transaction, 'one')));
    sent.length = 0;
    await database.write(async (transaction) => {
      await add(transaction, 'two').execute();
      await send(transaction, add(transaction, 'three'));
    });
    const commands = sent.map((bytes) => bytes.match(/begin|insert into|commit/g));
    expect(commands).toEqual([
      ['begin', 'insert into'],
      ['insert into', 'commit'],
    ]);
    await database.close();
    await address.stop();
  });

  // porsager/postgres#1218: BEGIN was sent, its connection went back to the pool, and others' queries ran inside the transaction.
  it('A transaction whose work fails before its BEGIN is answered does not stay open', async () => {
    const database = await openDatabase(made.url);
    const works = Array.from({ length: 40 }, (_, place) =>
      database.write(async (transaction) => {
        if (place % 2 === 0) void sql`select 1`.execute(transaction).catch(() => undefined);
        throw new Error('as reported');
      }),
    );
    for (const { status } of await Promise.allSettled(works)) expect(status).toBe('rejected');
    const { rows } = await sql`
      select state from pg_stat_activity where datname = current_database() and state like 'idle in%'
    `.execute(other.reader);
    expect(rows).toEqual([]);
    await database.write((transaction) =>
      transaction.insertInto('settings').values({ name: 'after', value: 'x' }).execute(),
    );
    const names = other.reader.selectFrom('settings').select('name').where('name', '=', 'after');
    expect(await names.execute()).toHaveLength(1);
    await database.close();
  });

  const add = (transaction: Transaction, name: string) =>
    transaction.insertInto('settings').values({ name, value: 'x' });
  const named = async (...names: string[]) => {
    const found = other.reader.selectFrom('settings').select('name').where('name', 'in', names);
    return (await found.orderBy('name').execute()).map(({ name }) => name);
  };

  it('A transaction with a value that cannot be written is rolled back, though PostgreSQL knows of no error', async () => {
    const database = await openDatabase(made.url);
    const endless: Record<string, unknown> = {};
    endless['self'] = endless;
    const failing = database.write(async (transaction) => {
      await add(transaction, 'before').execute();
      const unwritable = sql`insert into settings (name, value) values ('bad', ${endless})`;
      await send(transaction, { compile: () => unwritable.compile(transaction) });
      // It departs without the others.
      await delay(20);
      await add(transaction, 'behind').execute();
    });
    await expect(failing).rejects.toThrow(/circular/i);
    expect(await named('before', 'bad', 'behind')).toEqual([]);
    await database.close();
  });

  // kysely#1604, pg-promise#894: one of several statements failed, and another ran after the rollback, and stayed
  it('A statement that comes after the end of its transaction is refused', async () => {
    const database = await openDatabase(made.url);
    let late: Promise<void> | undefined;
    const failing = database.write(async (transaction) => {
      await send(transaction, add(transaction, 'early'));
      late = delay(50).then(() => send(transaction, add(transaction, 'late')));
      // On a busy machine, the rollback takes longer, and nothing waits for this yet.
      late.catch(() => undefined);
      throw new Error('as reported');
    });
    await expect(failing).rejects.toThrow('as reported');
    await expect(late).rejects.toThrow('after the end of its transaction');
    expect(await named('early', 'late')).toEqual([]);
    await database.close();
  });

  it('Only the part of a transaction that fails is undone, even if it comes first', async () => {
    const database = await openDatabase(made.url);
    await database.write((transaction) => add(transaction, 'taken').execute());
    await database.write(async (transaction) => {
      const failure = await isolate(transaction, async () => {
        await add(transaction, 'taken').execute();
      });
      expect(failure?.error).toMatchObject({ code: '23505' });
      await add(transaction, 'other').execute();
    });
    expect(await named('taken', 'other')).toEqual(['other', 'taken']);
    await database.close();
  });

  // node-postgres: `query_timeout` in the URL. The timer of an answered query must not end what runs after it.
  it('A query_timeout in the URL ends a slow query, but nothing that runs after an answered one', async () => {
    const url = new URL(made.url);
    url.searchParams.set('query_timeout', '400');
    const database = await openDatabase(url.href);
    await database.write((transaction) => add(transaction, 'one').execute());
    await delay(250);
    await database.write(async (transaction) => {
      await add(transaction, 'two').execute();
      await delay(300);
      await add(transaction, 'three').execute();
    });
    const slow = database.write((transaction) => sql`select pg_sleep(3)`.execute(transaction));
    await expect(slow).rejects.toThrow(/timeout|terminated/i);
    expect(await named('one', 'two', 'three')).toEqual(['one', 'three', 'two']);
    await database.close();
  });

  // supabase, RDS: "too many connections for role". The refusal of one more is an answer: those that are open live.
  it('No transaction ends because PostgreSQL refuses another connection', async () => {
    const role = `limited_${randomBytes(6).toString('hex')}`;
    const run = (text: string) => sql.raw(text).execute(other.reader);
    await run(`create role ${role} login connection limit 10`);
    await run(`grant all on all tables in schema public to ${role}`);
    const url = new URL(made.url);
    url.username = role;
    const database = await openDatabase(url.href);
    let end: () => void = () => undefined;
    const isOver = new Promise<void>((resolve) => (end = resolve));
    const running = Array.from({ length: 10 }, () =>
      database.snapshot(async (transaction) => {
        await sql`select 1`.execute(transaction);
        await isOver;
        await sql`select 1`.execute(transaction);
      }),
    );
    await expect(database.ping()).rejects.toThrow();
    end();
    for (const { status } of await Promise.allSettled(running)) expect(status).toBe('fulfilled');
    await database.close();
    await run(`drop owned by ${role}`);
    await run(`drop role ${role}`);
  });

  // pgbouncer#1038, pgbouncer#1118: it finds a statement by its text, and refuses a name that it has seen.
  it('A stale statement is prepared under another text, and one that PostgreSQL skipped is closed', async () => {
    let sent = '';
    const address = await openAddress(made.url, (bytes) => {
      sent += bytes.toString('latin1');
      return bytes;
    });
    const database = await openDatabase(address.url);
    const find = prepared((reader, { value }: { readonly value: string }) =>
      reader.selectFrom('settings').selectAll().where('value', '=', value),
    );
    const findOthers = prepared((reader, { value }: { readonly value: string }) =>
      reader.selectFrom('settings').select('name').where('value', '<>', value),
    );
    const read = () => database.write((transaction) => find(transaction, { value: 'x' }));
    await read();
    await sql`alter table settings add column note text`.execute(other.reader);
    sent = '';
    await expect(read()).resolves.toEqual([]);
    expect(sent).toMatch(/select \* from "settings" where "value" = \$1 \/\* [0-9a-f]{8} \*\//);

    await database.write((transaction) => add(transaction, 'taken').execute());
    sent = '';
    const failing = database.write(async (transaction) => {
      await send(transaction, add(transaction, 'taken'));
      return findOthers(transaction, { value: 'x' });
    });
    await expect(failing).rejects.toMatchObject({ code: '23505' });
    const [, name = ''] = /P.{4}([0-9a-f]{32}\w*)\0select "name"/s.exec(sent) ?? [];
    expect(name).not.toBe('');
    expect(sent).toMatch(new RegExp(`C.{4}S${name}\0`, 's'));
    await database.write((transaction) => findOthers(transaction, { value: 'x' }));
    await database.close();
    await address.stop();
  });

  // t8y2/dbx#2628: the message was Chinese, and the statement stayed stale.
  it('The error of a stale statement is recognised in any language', async () => {
    const client = new pg.Client({ connectionString: made.url });
    await client.connect();
    const query = { name: 'all', text: 'select * from settings' };
    await client.query(query);
    await client.query('alter table settings add column note text');
    const error: unknown = await client.query(query).catch((thrown: unknown) => thrown);
    await client.end();
    expect(error).toMatchObject({ message: 'cached plan must not change result type' });
    if (error instanceof Error)
      error.message = 'zwischengespeicherter Plan darf den Ergebnistyp nicht ändern';
    expect(isStalePlan(error)).toBe(true);
  });

  it('The error of a transaction says why its connection ended between two statements', async () => {
    const database = await openDatabase(made.url);
    let goOn: () => void = () => undefined;
    const isEnded = new Promise<void>((resolve) => (goOn = resolve));
    let pid: number | undefined;
    const failing = database.write(async (transaction) => {
      pid = (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction)).rows[0]?.pid;
      await isEnded;
      await sql`select 1`.execute(transaction);
    });
    await expect.poll(() => pid).toBeDefined();
    await sql`select pg_terminate_backend(${pid}, 5000)`.execute(other.reader);
    await delay(100);
    goOn();
    await expect(failing).rejects.toMatchObject({ code: '57P01' });
    await expect(database.ping()).resolves.toBeUndefined();
    await database.close();
  });
});

/**
 * Locks the file as another program does. The server is in this process: if the statement waited for the end of the
 * server's own transaction, that could not end meanwhile.
 */
async function lockFile(url: string): Promise<SqliteDatabase.Database> {
  const holder = new SqliteDatabase(url.slice('sqlite:'.length), { timeout: 0 });
  await vi.waitFor(() => holder.exec('begin immediate'), { timeout: 20_000, interval: 5 });
  return holder;
}

describe('SQLite', () => {
  // The sibling of a PostgreSQL that takes no writes: somebody holds the file, as a backup program or a shell does.
  it('Requests and /readyz get a 503 while another program keeps the SQLite file locked', async () => {
    const server = await startServer({ engine: sqlite });
    try {
      await expect.poll(async () => (await ready(server)).status, { timeout: 10_000 }).toBe(200);
      const holder = await lockFile(server.databaseUrl);
      const { status, headers, body } = await openShop(server).checkout();
      expect([status, body.data.code, headers.has('retry-after')]).toEqual([
        503,
        'service_unavailable',
        true,
      ]);
      const unready = await ready(server);
      expect([unready.status, unready.body.message]).toEqual([
        503,
        'Not ready to serve: the database is out of service: another program keeps its file locked',
      ]);
      holder.exec('rollback');
      holder.close();
      await expect.poll(async () => (await ready(server)).status, { timeout: 20_000 }).toBe(200);
      expect(await openShop(server).checkout()).toMatchObject({ status: 200 });
    } finally {
      await server.stop();
    }
  }, 90_000);

  // SQLite sets a timeout while it compiles the statement: one that was kept compiled set it only once.
  it('Whenever another program locks the SQLite file, only the first transaction waits for seconds', async () => {
    const { url, dispose } = await sqlite.create();
    const database = await openDatabase(url);
    const holder = new SqliteDatabase(url.slice('sqlite:'.length));
    const waited = async () => {
      const startedAt = performance.now();
      await expect(database.ping()).rejects.toThrow();
      return performance.now() - startedAt;
    };
    for (let time = 0; time < 2; time += 1) {
      holder.exec('begin immediate');
      const waits = [await waited(), await waited()];
      expect(waits.map((ms) => ms > 3000)).toEqual([true, false]);
      holder.exec('rollback');
      await expect(database.ping()).resolves.toBeUndefined();
    }
    holder.close();
    await database.close();
    await dispose();
  }, 60_000);

  // Backups and shells hold the file for minutes; staff must be able to look meanwhile.
  it('Commands that only read work while another program keeps the SQLite file locked', async () => {
    const server = await startServer({ engine: sqlite });
    const { databaseUrl } = server;
    let holder: SqliteDatabase.Database | undefined;
    try {
      await expect.poll(async () => (await ready(server)).status, { timeout: 10_000 }).toBe(200);
      holder = await lockFile(databaseUrl);
      for (const words of [
        ['merchants', 'list'],
        ['chains', 'status'],
        ['ledger', 'check'],
      ]) {
        const { exitCode, stderr } = await runCommandLine(databaseUrl, words);
        expect(exitCode, `${words.join(' ')}: ${stderr}`).toBe(0);
      }
    } finally {
      // Closing ends the transaction.
      holder?.close();
      await server.stop();
    }
  });

  it('The reason of an outage says that the SQLite file cannot be read or written', () => {
    const database = new SqliteDatabase(':memory:');
    database.exec('create table t (a)');
    database.pragma('query_only = on');
    let error: unknown;
    try {
      database.exec('insert into t values (1)');
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'SQLITE_READONLY' });
    expect(outageReason(error)).toBe('its file cannot be read or written');
    for (const code of ['SQLITE_IOERR_WRITE', 'SQLITE_CANTOPEN']) {
      expect(outageReason(new SqliteDatabase.SqliteError('', code))).toBe(
        'its file cannot be read or written',
      );
    }
  });

  // The file system under it turns read-only, as Linux does after an error of the disk.
  it('Requests get a 503, and /readyz names the reason, while the SQLite file can only be read', async () => {
    const server = await startServer({ engine: sqlite });
    try {
      // Its own transaction, too, cannot be committed any more.
      await server.database
        .write((transaction) => sql.raw('pragma query_only = on').execute(transaction))
        .catch(() => undefined);
      const { status, headers, body } = await openShop(server).checkout();
      expect([status, body.data.code, headers.has('retry-after')]).toEqual([
        503,
        'service_unavailable',
        true,
      ]);
      expect((await ready(server)).body.message).toBe(
        'Not ready to serve: the database is out of service: its file cannot be read or written',
      );
    } finally {
      await server.stop();
    }
  });
});
