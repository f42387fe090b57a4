/** PostgreSQL: transactions with pipelined statements, and prepared queries. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import pg from 'pg';
import type { Database, DatabaseOptions } from './database.js';
import { isCollision, isStalePlan } from './errors.js';
import { refuseForgetfulPooler } from './forgetful-pooler.js';
import type { Transaction } from './engine.js';
import { Flight } from './flight.js';
import { migrate, snapshotsOf } from './migrate.js';
import { createPostgresPool, type PostgresPool } from './postgres-pool.js';
import { combine, registerDirectRun, type NamedQuery } from './prepared.js';
import { describeHandle } from './query-parts.js';
import type { SavepointConnection } from './savepoint.js';
import type { Schema } from './schema.js';
import { refuseFurther, type SendingConnection } from './send.js';
import { refuseInsideTransaction, runInTransaction } from './transaction-context.js';

/** The other connections are left for reads, so that transactions waiting for one row cannot block everything. */
const transactionLimit = 8;
const maxAttempts = 5;
/** From here on, a table that is read row by row costs more than an index. */
const largeBytes = 256 * 1024;

export async function openPostgres(url: string, options: DatabaseOptions): Promise<Database> {
  const { INT8 } = pg.types.builtins;
  const types: pg.CustomTypesConfig = {
    // BIGINT columns hold only times, heights and counts, all below 2^53. The cast is there because pg's parsers
    // return any.
    getTypeParser: (oid, format): ((value: string) => unknown) =>
      oid === INT8 ? Number : (pg.types.getTypeParser(oid, format) as (value: string) => unknown),
  };
  const pool = createPostgresPool(url, types);
  const names = options.hasPreparedStatements === false ? undefined : { generation: '' };
  const kysely = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => pipelinedDriver(pool, names),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  describeHandle(kysely, { queryParts: [], ...options });
  try {
    if (names) await refuseForgetfulPooler(pool);
    const leftTables = await migrate(kysely, 'postgres', options.tables, options.mustExist);
    describeHandle(kysely, { queryParts: [], ...options, leftTables });
  } catch (error) {
    await kysely.destroy();
    throw error;
  }
  registerDirectRun(kysely, async (text, values, name) => {
    refuseInsideTransaction();
    const read = () => pool.query<object>(statementOf(names, text, values, name));
    return read().catch((error: unknown) => {
      if (!isStalePlan(error)) throw error;
      renew(names);
      return read();
    });
  });
  const limited = createLimiter(transactionLimit);

  async function commit<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const { result, callBack } = await kysely
      .transaction()
      .execute((transaction) =>
        runInTransaction(transaction, work).finally(() => refuseFurther(transaction)),
      );
    callBack();
    return result;
  }

  return {
    engine: 'postgres',
    reader: kysely,
    async write(work) {
      refuseInsideTransaction();
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await limited(() => commit(work));
        } catch (error) {
          if (attempt === maxAttempts || !isRetryable(error)) throw error;
          // The random delay keeps transactions that collided from colliding again.
          await delay(Math.random() * 20 * attempt);
        }
      }
    },
    snapshot: snapshotsOf(kysely),
    tables: options.tables,
    async ping() {
      refuseInsideTransaction();
      await pool.ping();
    },
    connections: pool.connections,
    gatherStatistics: () => gatherStatistics(kysely),
    close: () => kysely.destroy(),
  };
}

/**
 * A restore or a copy of a database may lack them, and autovacuum may be off or far behind. `analyze` reads a sample,
 * however large the table is.
 */
async function gatherStatistics(kysely: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_stat_user_tables
    where schemaname = current_schema() and pg_relation_size(relid) > ${largeBytes} and (
      n_mod_since_analyze > n_live_tup / 2
      or not exists (select from pg_stats where pg_stats.schemaname = current_schema() and tablename = relname)
    )`.execute(kysely);
  for (const { name } of rows) await sql`analyze ${sql.table(name)}`.execute(kysely);
}

function isRetryable(error: unknown): boolean {
  return isCollision(error) || isStalePlan(error);
}

/** Runs at most `limit` transactions at once. The others wait for their turn. */
function createLimiter(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = limit;
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

/** Part of the names under which connections prepare queries, and of their texts; empty at first. All connections share it. */
interface StatementNames {
  generation: string;
}

/**
 * Changes the name and the text of every query, so that each is prepared again. PgBouncer finds a statement by its text, also
 * that of a process that ended: so it is random.
 */
function renew(names: StatementNames | undefined): void {
  if (names) names.generation = randomBytes(4).toString('hex');
}

function pipelinedDriver(pool: PostgresPool, names: StatementNames | undefined): Driver {
  return {
    init: () => Promise.resolve(),
    async acquireConnection(): Promise<PipelinedConnection> {
      refuseInsideTransaction();
      return new PipelinedConnection(await pool.acquire(), pool, names);
    },
    async beginTransaction(connection: PipelinedConnection, settings: TransactionSettings) {
      const { isolationLevel, accessMode } = settings;
      const isolation = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
      connection.begin(`begin${isolation}${accessMode === undefined ? '' : ` ${accessMode}`}`);
    },
    commitTransaction: (connection: PipelinedConnection) => connection.commit(),
    rollbackTransaction: (connection: PipelinedConnection) => connection.rollback(),
    releaseConnection: async (connection: PipelinedConnection) => connection.release(),
    destroy: () => pool.end(),
  };
}

type Statement = Pick<NamedQuery, 'sql' | 'parameters' | 'name'>;

const writeCommands = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** A connection, from when it is acquired until it is released. */
class PipelinedConnection implements SendingConnection, SavepointConnection {
  readonly #client: pg.PoolClient;
  readonly #pool: PostgresPool;
  readonly #names: StatementNames | undefined;
  /** Statements of this turn of the event loop: they are sent at its end. */
  #flight: Flight | undefined;
  /** The one that begins the transaction. Its other statements need no answer to BEGIN. */
  #first: Flight | undefined;
  /** Ends once BEGIN is answered. Stays if BEGIN failed: until the connection is released, no write must follow. */
  #beginning: Promise<void> | undefined;
  /** The number of statements that wait for that. */
  #held = 0;
  /** Statements of this transaction whose results nobody awaits. They never reject. */
  #sent: Promise<void>[] = [];
  /** The writes that will be sent as one statement; undefined unless `together` runs. */
  #batch: NamedQuery[] | undefined;
  /** The first error of the transaction. */
  #failure: { readonly error: unknown } | undefined;
  /** True once it is released: a statement that comes late would be in the transaction of somebody else. */
  #isOver = false;

  constructor(client: pg.PoolClient, pool: PostgresPool, names: StatementNames | undefined) {
    this.#client = client;
    this.#pool = pool;
    this.#names = names;
  }

  async executeQuery<R>(query: NamedQuery): Promise<QueryResult<R>> {
    this.#refuseIfOver();
    try {
      const { command, rowCount, rows } = await this.#query(query);
      return {
        rows: rows as R[],
        ...(writeCommands.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
      };
    } catch (error) {
      // After a failed statement, all later ones in the transaction fail too. Only the first error has the cause.
      throw this.#fail(error);
    }
  }

  send(query: NamedQuery): void {
    this.#refuseIfOver();
    if (this.#batch && query.name !== undefined) this.#batch.push(query);
    else this.#watch(this.#query(query));
  }

  async together<T>(work: () => Promise<T>): Promise<T> {
    if (this.#batch) return work();
    const batch: NamedQuery[] = [];
    this.#batch = batch;
    try {
      const result = await work();
      if (batch.length > 0) this.#watch(this.#query(combine(batch)));
      return result;
    } finally {
      this.#batch = undefined;
    }
  }

  // Kysely's interface requires it, but nothing here streams.
  // eslint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming is not supported');
  }

  /** Does not wait for the answer, so that the first statements travel with it. */
  begin(statement: string): void {
    const begun = [statement, ...this.#pool.settingsOf(this.#client)].map((sql) => {
      const started = this.#start({ sql, parameters: [] });
      this.#watch(started);
      return started;
    });
    this.#first = this.#flight;
    // A later statement may fail: that is no failure of BEGIN.
    this.#beginning = Promise.all(begun).then(
      () => {
        this.#beginning = undefined;
      },
      () => undefined,
    );
  }

  async commit(): Promise<void> {
    // PostgreSQL knows nothing of a statement whose values could not be written, and would commit the others.
    this.#throwFailure();
    // PostgreSQL answers in order, so the statements sent before have their results by then.
    this.#watch(this.#run('commit'));
    await Promise.all(this.#sent);
    // PostgreSQL rolls back a transaction with a failed statement, and says so without an error.
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /** Never rejects: the caller needs the error before it. A connection that could not roll back ends when it is released. */
  async rollback(): Promise<void> {
    await this.#beginning;
    this.#depart();
    this.#watch(this.#start({ sql: 'rollback', parameters: [] }));
    await Promise.all(this.#sent);
  }

  beginSavepoint(): void {
    this.#watch(this.#run('savepoint part'));
  }

  async releaseSavepoint(): Promise<void> {
    const released = this.#run('release savepoint part');
    const [result] = await Promise.allSettled([released, ...this.#sent]);
    this.#sent = [];
    if (this.#failure) throw this.#failure.error;
    if (result.status === 'rejected') throw result.reason;
  }

  async rollbackToSavepoint(): Promise<void> {
    this.#depart();
    const undone = this.#run('rollback to savepoint part');
    const [result] = await Promise.allSettled([undone, ...this.#sent]);
    // Without the savepoint, a statement before it has failed, and with it the whole transaction.
    if (result.status === 'rejected') throw this.#failure?.error ?? result.reason;
    this.#sent = [];
    this.#failure = undefined;
    this.#watch(this.#run('release savepoint part'));
  }

  release(): void {
    this.#isOver = true;
    this.#pool.release(this.#client, this.#failure?.error);
  }

  #refuseIfOver(): void {
    if (this.#isOver) throw new Error('A statement came after the end of its transaction');
  }

  #run = (sql: string) => this.#query({ sql, parameters: [] });

  /** Behind a BEGIN that failed, each write of another flight would commit separately. A read does no harm there. */
  #query(statement: Statement): Promise<pg.QueryResult> {
    const isWithBegin = this.#flight !== undefined && this.#flight === this.#first;
    const isSafe = !this.#beginning || isWithBegin || statement.sql.startsWith('select ');
    return this.#held === 0 && isSafe ? this.#start(statement) : this.#hold(statement);
  }

  async #hold(statement: Statement): Promise<pg.QueryResult> {
    this.#held += 1;
    await this.#beginning;
    this.#held -= 1;
    if (this.#beginning && this.#failure) throw this.#failure.error;
    return this.#start(statement);
  }

  #start({ sql, parameters, name }: Statement): Promise<pg.QueryResult> {
    this.#flight ??= this.#board();
    return this.#flight.add(statementOf(this.#names, sql, [...parameters], name));
  }

  #board(): Flight {
    const flight = new Flight(this.#pool.types);
    setImmediate(() => {
      if (this.#flight === flight) this.#depart();
    });
    return flight;
  }

  /** Sends what waits. PostgreSQL would skip what comes behind a failure in the same flight. */
  #depart(): void {
    if (this.#flight) this.#client.query(this.#flight);
    this.#flight = undefined;
  }

  #watch(result: Promise<unknown>): void {
    this.#sent.push(
      result.then(
        () => undefined,
        (error: unknown) => {
          this.#fail(error);
        },
      ),
    );
  }

  /** @returns the first error of the transaction */
  #fail(error: unknown): unknown {
    if (isStalePlan(error)) renew(this.#names);
    this.#failure ??= { error: this.#pool.note(this.#client, error) };
    return this.#failure.error;
  }
}

function statementOf(
  names: StatementNames | undefined,
  text: string,
  values: unknown[],
  name: string | undefined,
): pg.QueryConfig {
  if (!names || name === undefined) return { text, values };
  if (names.generation === '') return { name, text, values };
  return { name: `${name}_${names.generation}`, text: `${text} /* ${names.generation} */`, values };
}
