/** SQLite: one connection for writes, which are committed in groups, and separate connections for reads. */
import SqliteDatabase from 'better-sqlite3';
import {
  CompiledQuery,
  Kysely,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type TransactionSettings,
} from 'kysely';
import type { Database, DatabaseOptions } from './database.js';
import type { Transaction } from './engine.js';
import { checkDatabaseFile, createDatabaseFile, protectDatabaseFiles } from './file-modes.js';
import { startCheckpoints } from './checkpoints.js';
import { createGroupCommit } from './group-commit.js';
import { registerDirectRun } from './prepared.js';
import { describeHandle, type LeftTable } from './query-parts.js';
import type { Schema } from './schema.js';
import { migrate, MissingDatabase, snapshotsOf } from './migrate.js';
import { refuseInsideTransaction } from './transaction-context.js';

/**
 * Pages that a connection keeps, in kB. The driver's default is 16 MB for each, of a file that the operating system keeps in
 * memory too. The writer needs more: what a transaction changes and does not fit is written before the commit.
 */
const cacheOfWriter = 8000;
const cacheOfPreparedReads = 4000;
/** Of lists and jobs, which read what nobody reads again soon. */
const cacheOfReader = 1000;

/**
 * In bytes, above the usual 40 MB. The log can grow while somebody reads an old state; its file is cut to this once it starts again.
 */
const largestLog = 64 * 2 ** 20;

/** Opens and migrates a database. @param path a file, or `:memory:` */
export async function openSqlite(path: string, options: DatabaseOptions): Promise<Database> {
  const { warn = () => {} } = options;
  // A database in memory is new to every process.
  const isFile = path !== ':memory:';
  const mustExist = isFile ? options.mustExist : undefined;
  const isFound = isFile && checkDatabaseFile(path);
  if (mustExist !== undefined && !isFound) throw new MissingDatabase();
  if (isFound) refuseForeignTables(path);
  else if (isFile) createDatabaseFile(path);
  const serverLock = isFile && options.isServer === true ? lockForServer(path) : undefined;
  const opened: Connection[] = [];
  const connect = (cacheKilobytes: number) => {
    const connection = new SqliteDatabase(path, { timeout: longLockMs });
    connection.pragma('journal_mode = WAL');
    // A committed payment must survive a power cut, so every commit is synced.
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = ON');
    connection.pragma(`cache_size = -${cacheKilobytes}`);
    connection.pragma(`journal_size_limit = ${largestLog}`);
    defineUnitSums(connection);
    const cached = cachingStatements(connection);
    opened.push(cached);
    return cached;
  };
  let leftTables: readonly LeftTable[] = [];
  const open = (connection: ReturnType<typeof connect>) => {
    const handle = new Kysely<Schema>({
      dialect: {
        createAdapter: () => new TransactionalSqliteAdapter(),
        createDriver: () => new GuardedSqliteDriver(connection),
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    });
    describeHandle(handle, { queryParts: [], ...options, leftTables });
    return handle;
  };
  const writing = connect(cacheOfWriter);
  const writer = open(writing);
  try {
    leftTables = await migrate(writer, 'sqlite', options.tables, mustExist);
    describeHandle(writer, { queryParts: [], ...options, leftTables });
    writing.forget();
  } catch (error) {
    await writer.destroy();
    serverLock?.close();
    throw error;
  }
  // Only now it is certain that the files are the server's own.
  if (isFile) protectDatabaseFiles(path, warn);
  // In WAL mode, reads on another connection run alongside a write transaction. A database in memory has only one
  // connection.
  const isShared = !isFile;
  const reader = isShared ? writer : open(connect(cacheOfReader));
  const preparedReads = isShared ? undefined : connect(cacheOfPreparedReads);
  if (preparedReads) {
    registerDirectRun(reader, (text, parameters) => {
      refuseInsideTransaction();
      return preparedReads.prepare(text).all(parameters);
    });
  }
  const checkpoints =
    isFile && options.isServer === true
      ? startCheckpoints(path, writing, (reason) =>
          warn(`The thread that copies the database's log has ended (${reason}): commits do it from now on`),
        )
      : undefined;
  const write = createGroupCommit(
    async (work) => {
      await writer.transaction().execute((transaction: Transaction) => {
        registerDirectRun(transaction, (text, parameters) => {
          const statement = writing.prepare(text);
          if (statement.reader) return statement.all(parameters);
          statement.run(parameters);
          return [];
        });
        return work(transaction);
      });
      checkpoints?.changed();
    },
    {
      run: (statement) => void writing.prepare(statement).run([]),
      changes: writing.changes,
      isOpen: writing.isInTransaction,
    },
  );
  return {
    engine: 'sqlite',
    reader,
    async write(work, isLong) {
      refuseInsideTransaction();
      return write(work, isLong);
    },
    snapshot: snapshotsOf(reader),
    tables: options.tables,
    async ping() {
      refuseInsideTransaction();
      // It takes the lock for writes, and without a change nothing reaches the disk.
      await write(() => Promise.resolve());
    },
    gatherStatistics: () => Promise.resolve(),
    connections: () => undefined,
    async close() {
      if (!isShared) await reader.destroy();
      await checkpoints?.close();
      await writer.destroy();
      // A handle that was never used does not close its own.
      for (const connection of opened) connection.close();
      serverLock?.close();
    },
  };
}

/**
 * Two servers on one file would both scan and pay. The operating system's lock on a file next to the database
 * prevents that: it ends with the process, however that ends.
 * @throws if another server has it
 */
function lockForServer(path: string): SqliteDatabase.Database {
  const lockPath = `${path}-server`;
  if (!checkDatabaseFile(lockPath)) createDatabaseFile(lockPath);
  // A server that is being replaced may need a moment to end.
  const lock = new SqliteDatabase(lockPath, { timeout: 1000 });
  try {
    lock.pragma('journal_mode = MEMORY');
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    if (!(error instanceof SqliteDatabase.SqliteError && error.code.startsWith('SQLITE_BUSY'))) throw error;
    throw new Error(
      `another server uses ${path}. Stop it first, or give this one a file of its own; several servers on one database need PostgreSQL`,
      { cause: error },
    );
  }
}

/** @throws if the file has tables, but none of this server */
function refuseForeignTables(path: string): void {
  const connection = new SqliteDatabase(path, { timeout: 5000 });
  const names = connection.prepare("select name from sqlite_master where type = 'table'").pluck().all();
  connection.close();
  if (names.length === 0 || names.includes('kysely_migration')) return;
  throw new Error(`${path} is the database of another program. Nothing in it was changed`);
}

/** Defines the SQL functions that `sumUnits` in units.ts calls. SQLite's own sum overflows above 64 bits. */
function defineUnitSums(connection: SqliteDatabase.Database): void {
  connection.aggregate('sum_units', {
    start: () => 0n,
    step: (total: bigint, units: bigint | string | null) => total + BigInt(units ?? 0),
    result: (total) => String(total),
    deterministic: true,
  });
  connection.function(
    'add_units',
    { deterministic: true, safeIntegers: true },
    (a: bigint | string | null, b: bigint | string | null) => String(BigInt(a ?? 0) + BigInt(b ?? 0)),
  );
}

const maxCachedStatements = 500;

type Row = Record<string, unknown>;

/** A prepared statement whose rows are read as arrays: better-sqlite3 takes twice as long for rows with names. */
class Statement {
  readonly reader: boolean;
  readonly isReadOnly: boolean;
  readonly #statement: SqliteDatabase.Statement<unknown[], unknown[]>;
  #names: readonly string[] = [];
  /** Copied for each row, so that all rows have one shape. */
  #empty: Row = {};

  constructor(statement: SqliteDatabase.Statement<unknown[], unknown[]>) {
    this.reader = statement.reader;
    this.isReadOnly = statement.readonly;
    this.#statement = statement.reader ? statement.raw() : statement;
  }

  all(parameters: readonly unknown[]): Row[] {
    return this.#statement.all(...parameters).map((values) => this.#rowOf(values));
  }

  *iterate(parameters: readonly unknown[]): IterableIterator<Row> {
    for (const values of this.#statement.iterate(...parameters)) yield this.#rowOf(values);
  }

  run(parameters: readonly unknown[]): SqliteDatabase.RunResult {
    return this.#statement.run(...parameters);
  }

  #rowOf(values: readonly unknown[]): Row {
    // The columns of `select *` change when a migration adds one.
    if (values.length !== this.#names.length) this.#readNames();
    const row = { ...this.#empty };
    this.#names.forEach((name, place) => {
      row[name] = values[place];
    });
    return row;
  }

  #readNames(): void {
    this.#names = this.#statement.columns().map(({ name }) => name);
    this.#empty = Object.fromEntries(this.#names.map((name) => [name, null]));
  }
}

/** Caches prepared statements by their SQL. better-sqlite3 compiles the SQL at every call of `prepare`. */
function cachingStatements(connection: SqliteDatabase.Database) {
  const statements = new Map<string, Statement>();
  let changes = 0;
  return {
    prepare(sql: string) {
      const known = statements.get(sql);
      const statement = known ?? new Statement(connection.prepare<unknown[], unknown[]>(sql));
      // The one that was used longest ago comes first.
      if (known) statements.delete(sql);
      else if (statements.size === maxCachedStatements)
        statements.delete(statements.keys().next().value ?? '');
      statements.set(sql, statement);
      if (!statement.isReadOnly) changes += 1;
      return statement;
    },
    /** Counts the statements that may have changed something. */
    changes: () => changes,
    checkpoint() {
      try {
        connection.pragma('wal_checkpoint(passive)');
      } catch {
        // Such as a full disk. The commit is safe in the log, which grows until there is room.
      }
    },
    checkpointEvery: (pages: number) => void connection.pragma(`wal_autocheckpoint = ${pages}`),
    /** Not prepared: SQLite sets it while it compiles the statement. */
    waitFor: (ms: number) => connection.pragma(`busy_timeout = ${ms}`),
    /** Prepares all again, as a migration can rename what statements read. */
    forget: () => statements.clear(),
    isInTransaction: () => connection.inTransaction,
    close: () => connection.close(),
  };
}

type Connection = ReturnType<typeof cachingStatements>;

/**
 * Makes Kysely migrate in one transaction. If two processes start at once, the second waits. If one is killed, its
 * migration leaves nothing behind.
 */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** The time that a statement waits for a lock of another program. The whole process waits with it. */
const longLockMs = 5000;
/** The wait after one that timed out: many statements may be waiting, and the process must stay responsive. */
const shortLockMs = 20;

class GuardedSqliteDriver extends SqliteDriver {
  readonly #connection: Connection;
  #lockMs = longLockMs;

  constructor(connection: Connection) {
    super({ database: connection });
    this.#connection = connection;
  }

  override acquireConnection(): Promise<DatabaseConnection> {
    refuseInsideTransaction();
    return super.acquireConnection();
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    settings?: TransactionSettings,
  ): Promise<void> {
    // Takes the write lock at once, so that a CLI command running next to the server waits instead of failing at its
    // first write. A read-only transaction needs no write lock.
    const begin = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate';
    try {
      await connection.executeQuery(CompiledQuery.raw(begin));
    } catch (error) {
      this.#waitFor(shortLockMs);
      throw error;
    }
    this.#waitFor(longLockMs);
  }

  #waitFor(ms: number): void {
    if (ms === this.#lockMs) return;
    this.#lockMs = ms;
    this.#connection.waitFor(ms);
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // After some errors, such as a full disk, SQLite has already rolled back.
    if (this.#connection.isInTransaction()) await super.rollbackTransaction(connection);
  }
}
