/** Opens the database: SQLite or PostgreSQL behind one interface, migrated and ready. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import {
  CompiledQuery,
  Kysely,
  Migrator,
  PostgresDialect,
  PostgresDriver,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  type SqliteDialectConfig,
  type Transaction as KyselyTransaction,
  type TransactionSettings,
} from 'kysely';
import pg from 'pg';
import { migrations } from './migrations.js';
import { answerAtOnce } from './prepared.js';
import type { Schema } from './schema.js';

export type Transaction = KyselyTransaction<Schema>;
/** Reads outside of transactions, or inside one: what a query that changes nothing takes. */
export type Reader = Kysely<Schema>;
export type Engine = 'sqlite' | 'postgres';

export interface Database {
  readonly engine: Engine;
  /** For reads outside of transactions. Using it inside `write` is an error. */
  readonly reader: Reader;
  /**
   * Runs one transaction and commits it durably. On a deadlock or a serialization failure it runs
   * again, so `work` must not have effects outside the database.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Runs several reads on one state of the database: what is committed meanwhile is not seen, and nobody waits. */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  /** This process's connections, and what waits for one; undefined where there is no pool. */
  connections(): Connections | undefined;
  close(): Promise<void>;
}

export interface Connections {
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
}

/**
 * What is to happen after the commit of the transaction that runs. There is one inside `write` alone: there the outer
 * handle would wait for a connection that only the transaction can give back.
 */
const insideTransaction = new AsyncLocalStorage<(() => void)[]>();

/** Calls back once the transaction that runs has committed, and never if it does not. For news to this process alone. */
export function afterCommit(news: () => void): void {
  insideTransaction.getStore()?.push(news);
}

/** Runs a transaction, and after it what it left to be done then. */
async function commit<T>(kysely: Kysely<Schema>, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const news: (() => void)[] = [];
  const result = await kysely
    .transaction()
    .execute((transaction) => insideTransaction.run(news, () => work(transaction)));
  for (const tell of news) tell();
  return result;
}

function refuseInsideTransaction(): void {
  if (insideTransaction.getStore()) {
    throw new Error('The outer database handle was used inside a transaction: pass the transaction on');
  }
}

/**
 * @param url `sqlite:PATH`, `sqlite::memory:` or `postgres://…`
 * @throws when the URL is of neither form or the database cannot be reached
 */
export async function openDatabase(url: string): Promise<Database> {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length));
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url);
  throw new Error('DATABASE_URL must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME');
}

async function openSqlite(path: string): Promise<Database> {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
  const connect = () => {
    const connection = new SqliteDatabase(path, { timeout: 5000 });
    connection.pragma('journal_mode = WAL');
    // A committed payment must survive a power cut, so every commit is synced.
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = ON');
    defineUnitSums(connection);
    return cachingStatements(connection);
  };
  const open = () => new Kysely<Schema>({ dialect: new GuardedSqliteDialect({ database: connect() }) });
  const writer = open();
  await migrate(writer, 'sqlite');
  // WAL lets reads go on beside a write transaction, on a connection of their own. A database in memory has one.
  const isShared = path === ':memory:';
  const reader = isShared ? writer : open();
  const preparedReads = isShared ? undefined : connect();
  if (preparedReads) {
    answerAtOnce(reader, (text, parameters) => {
      refuseInsideTransaction();
      return preparedReads.prepare(text).all(...parameters);
    });
  }
  return {
    engine: 'sqlite',
    reader,
    write: (work) => commit(writer, work),
    snapshot: snapshotsOf(reader),
    connections: () => undefined,
    async close() {
      preparedReads?.close();
      if (!isShared) await reader.destroy();
      await writer.destroy();
    },
  };
}

/** `sumUnits` of `units.ts` calls this: SQLite's own sum is wrong above 64 bits. */
function defineUnitSums(connection: SqliteDatabase.Database): void {
  connection.aggregate('sum_units', {
    start: () => 0n,
    step: (total: bigint, units: bigint | string | null) => total + BigInt(units ?? 0),
    result: (total) => String(total),
    deterministic: true,
  });
}

/** better-sqlite3 prepares at every call of `prepare`; the same text is the same statement, so it is kept. */
function cachingStatements(connection: SqliteDatabase.Database) {
  const statements = new Map<string, SqliteDatabase.Statement>();
  return {
    prepare(sql: string) {
      let statement = statements.get(sql);
      if (!statement) {
        statement = connection.prepare(sql);
        if (statements.size < 500) statements.set(sql, statement);
      }
      return statement;
    },
    close: () => connection.close(),
  };
}

class GuardedSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;

  constructor(config: SqliteDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalSqliteAdapter();
  }

  override createDriver(): Driver {
    return new GuardedSqliteDriver(this.#config);
  }
}

/** Migrates in one transaction: of two processes that start at once the second waits, and a killed one leaves nothing half made. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class GuardedSqliteDriver extends SqliteDriver {
  override acquireConnection(): Promise<DatabaseConnection> {
    refuseInsideTransaction();
    return super.acquireConnection();
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    settings?: TransactionSettings,
  ): Promise<void> {
    // Takes the write lock at once, so that a command line beside the server waits instead of failing at its first
    // write. What only reads holds nobody up.
    const begin = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate';
    await connection.executeQuery(CompiledQuery.raw(begin));
  }
}

const retryable = new Set(['40001', '40P01']);

async function openPostgres(url: string): Promise<Database> {
  const { INT8 } = pg.types.builtins;
  const types: pg.CustomTypesConfig = {
    // BIGINT holds times and heights alone, all below 2^53. The driver's parsers return any.
    getTypeParser: (oid, format): ((value: string) => unknown) =>
      oid === INT8 ? Number : (pg.types.getTypeParser(oid, format) as (value: string) => unknown),
  };
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    types,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    // A replica that is frozen or cut off must not keep its rows locked until TCP gives up, hours later.
    idle_in_transaction_session_timeout: 30_000,
  });
  const inTurn = createTurns(8);
  // An idle connection that breaks is replaced at the next query, which reports what is wrong.
  pool.on('error', () => {});
  // So is one that breaks between two queries of a transaction; nobody listening would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  const kysely = new Kysely<Schema>({ dialect: new GuardedPostgresDialect(pool) });
  await migrate(kysely, 'postgres');
  return {
    engine: 'postgres',
    reader: kysely,
    async write(work) {
      refuseInsideTransaction();
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await inTurn(() => commit(kysely, work));
        } catch (error) {
          const code = error instanceof pg.DatabaseError ? error.code : undefined;
          if (attempt === 5 || code === undefined || !retryable.has(code)) throw error;
          // Those that collided begin again one after the other.
          await delay(Math.random() * 20 * attempt);
        }
      }
    },
    snapshot: snapshotsOf(kysely),
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => kysely.destroy(),
  };
}

/**
 * Lets so many transactions run at once; the others wait for their turn. Many that wait for one row, such as a
 * balance, would else hold every connection, and all that only reads would time out as if the database were away.
 */
function createTurns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

function snapshotsOf(reader: Kysely<Schema>): Database['snapshot'] {
  return (work) =>
    reader
      .transaction()
      .setAccessMode('read only')
      .setIsolationLevel('repeatable read')
      .execute((trx) => insideTransaction.run([], () => work(trx)));
}

class GuardedPostgresDialect extends PostgresDialect {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    super({ pool });
    this.#pool = pool;
  }

  override createDriver(): Driver {
    return new GuardedPostgresDriver({ pool: this.#pool });
  }
}

class GuardedPostgresDriver extends PostgresDriver {
  override acquireConnection(): Promise<DatabaseConnection> {
    refuseInsideTransaction();
    return super.acquireConnection();
  }
}

async function migrate(kysely: Kysely<Schema>, engine: Engine): Promise<void> {
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: () => Promise.resolve(migrations(engine)) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    await kysely.destroy();
    throw error instanceof Error ? error : new Error('The database could not be migrated', { cause: error });
  }
}
