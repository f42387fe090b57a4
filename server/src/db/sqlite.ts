/** SQLite: one connection for writes, whose transactions are committed in groups, and one for reads. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import {
  CompiledQuery,
  Kysely,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  type TransactionSettings,
} from 'kysely';
import type { Database } from './database.js';
import type { Transaction } from './engine.js';
import { createGroupCommit } from './group-commit.js';
import { answerAtOnce } from './prepared.js';
import type { Schema } from './schema.js';
import { migrate, snapshotsOf } from './migrate.js';
import { refuseInsideTransaction } from './transaction-context.js';

/** @param path a file, or `:memory:` */
export async function openSqlite(path: string): Promise<Database> {
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
  const open = (connection: ReturnType<typeof connect>) =>
    new Kysely<Schema>({ dialect: new GuardedSqliteDialect(connection) });
  const writing = connect();
  const writer = open(writing);
  await migrate(writer, 'sqlite');
  // In WAL mode reads go on beside a write transaction, on a connection of their own. A database in memory has one.
  const isShared = path === ':memory:';
  const reader = isShared ? writer : open(connect());
  const preparedReads = isShared ? undefined : connect();
  if (preparedReads) {
    answerAtOnce(reader, (text, parameters) => {
      refuseInsideTransaction();
      return preparedReads.prepare(text).all(...parameters);
    });
  }
  const groups = createGroupCommit({
    transaction: (work) =>
      writer.transaction().execute((transaction: Transaction) => {
        answerAtOnce(transaction, (text, parameters) => {
          const statement = writing.prepare(text);
          if (statement.reader) return statement.all(...parameters);
          statement.run(...parameters);
          return [];
        });
        return work(transaction);
      }),
    run: (statement) => writing.prepare(statement).run(),
  });
  return {
    engine: 'sqlite',
    reader,
    async write(work) {
      refuseInsideTransaction();
      return groups.write(work);
    },
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

const keptStatements = 500;

/** better-sqlite3 prepares at every call of `prepare`. The same text is the same statement, so it is kept. */
function cachingStatements(connection: SqliteDatabase.Database) {
  const statements = new Map<string, SqliteDatabase.Statement>();
  return {
    prepare(sql: string) {
      let statement = statements.get(sql);
      if (!statement) {
        statement = connection.prepare(sql);
        if (statements.size < keptStatements) statements.set(sql, statement);
      }
      return statement;
    },
    isInTransaction: () => connection.inTransaction,
    close: () => connection.close(),
  };
}

type Connection = ReturnType<typeof cachingStatements>;

class GuardedSqliteDialect extends SqliteDialect {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    super({ database: connection });
    this.#connection = connection;
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalSqliteAdapter();
  }

  override createDriver(): Driver {
    return new GuardedSqliteDriver(this.#connection);
  }
}

/** Migrates in one transaction: of two processes that start at once the second waits, and a killed one leaves nothing. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class GuardedSqliteDriver extends SqliteDriver {
  readonly #connection: Connection;

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
    // Takes the write lock at once, so that a command line beside the server waits instead of failing at its first
    // write. A transaction that only reads holds nobody up.
    const begin = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate';
    await connection.executeQuery(CompiledQuery.raw(begin));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // After some errors, such as a full disk, SQLite has done so itself.
    if (this.#connection.isInTransaction()) await super.rollbackTransaction(connection);
  }
}
