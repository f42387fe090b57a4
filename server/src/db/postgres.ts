/** PostgreSQL: a pool of connections that send statements without waiting for each other, prepared where they repeat. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  Kysely,
  PostgresDialect,
  type CompiledQuery,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import pg from 'pg';
import type { Database, DatabaseOptions } from './database.js';
import type { Transaction } from './engine.js';
import { migrate, snapshotsOf } from './migrate.js';
import type { Schema } from './schema.js';
import type { SendingConnection } from './send.js';
import { refuseInsideTransaction, runInTransaction } from './transaction-context.js';

const connectionLimit = 10;
/** The rest are left to reads, so that transactions that wait for one row do not hold everything up. */
const transactionLimit = 8;
const mostTries = 5;

export async function openPostgres(url: string, options: DatabaseOptions): Promise<Database> {
  const { INT8 } = pg.types.builtins;
  const types: pg.CustomTypesConfig = {
    // BIGINT holds only times and heights, all below 2^53. The driver's parsers return any.
    getTypeParser: (oid, format): ((value: string) => unknown) =>
      oid === INT8 ? Number : (pg.types.getTypeParser(oid, format) as (value: string) => unknown),
  };
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionLimit,
    types,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    // Statements are sent before the one in front of them is answered; PostgreSQL answers them in order.
    pipeline: true,
    // A replica that is frozen or cut off must not keep its rows locked until TCP gives up, hours later.
    idle_in_transaction_session_timeout: 30_000,
  } as pg.PoolConfig);
  // An idle connection that breaks is replaced at the next query, which reports what is wrong.
  pool.on('error', () => {});
  // So is one that breaks between two queries of a transaction. Without a listener it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  const names = options.hasPreparedStatements === false ? undefined : createStatementNames();
  const kysely = new Kysely<Schema>({ dialect: new PipelinedDialect(pool, names) });
  await migrate(kysely, 'postgres');
  const inTurn = createTurns(transactionLimit);

  async function commit<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const callbacks: (() => void)[] = [];
    const result = await kysely
      .transaction()
      .execute((transaction) => runInTransaction(callbacks, () => work(transaction)));
    for (const callback of callbacks) callback();
    return result;
  }

  return {
    engine: 'postgres',
    reader: kysely,
    async write(work) {
      refuseInsideTransaction();
      for (let tries = 1; ; tries += 1) {
        try {
          return await inTurn(() => commit(work));
        } catch (error) {
          if (tries === mostTries || !isRetryable(error)) throw error;
          // Those that collided begin again one after the other.
          await delay(Math.random() * 20 * tries);
        }
      }
    },
    snapshot: snapshotsOf(kysely),
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => kysely.destroy(),
  };
}

/** Serialization failure, deadlock. */
const collisions = new Set(['40001', '40P01']);

function isRetryable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (collisions.has(error.code ?? '') || isStalePlan(error));
}

/** Another release's migration changed what a prepared statement returns. It is prepared anew under another name. */
function isStalePlan(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '0A000' && error.message.includes('cached plan');
}

/** Lets so many transactions run at once; the others wait for their turn. */
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

interface StatementNames {
  /** The name to prepare a statement by; undefined for one that was not asked for before. */
  of(sql: string): string | undefined;
  /** Gives every statement another name. */
  renew(): void;
}

/** Every connection keeps each of them, so there is a limit. Texts with lists of values in them have many forms. */
const mostNames = 300;

function createStatementNames(): StatementNames {
  const names = new Map<string, string | undefined>();
  let generation = 0;
  let count = 0;
  return {
    of(sql) {
      const name = names.get(sql);
      if (name !== undefined) return name;
      if (count === mostNames) return undefined;
      // What is asked for a second time will be asked for again.
      const isKnown = names.has(sql);
      if (isKnown) count += 1;
      else if (names.size > 20 * mostNames) return undefined;
      names.set(sql, isKnown ? `s${generation}_${count}` : undefined);
      return names.get(sql);
    },
    renew() {
      names.clear();
      generation += 1;
      count = 0;
    },
  };
}

class PipelinedDialect extends PostgresDialect {
  readonly #pool: pg.Pool;
  readonly #names: StatementNames | undefined;

  constructor(pool: pg.Pool, names: StatementNames | undefined) {
    super({ pool });
    this.#pool = pool;
    this.#names = names;
  }

  override createDriver(): Driver {
    return new PipelinedDriver(this.#pool, this.#names);
  }
}

class PipelinedDriver implements Driver {
  readonly #pool: pg.Pool;
  readonly #names: StatementNames | undefined;
  readonly #connections = new WeakMap<pg.PoolClient, PipelinedConnection>();

  constructor(pool: pg.Pool, names: StatementNames | undefined) {
    this.#pool = pool;
    this.#names = names;
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  async acquireConnection(): Promise<PipelinedConnection> {
    refuseInsideTransaction();
    const client = await this.#pool.connect();
    const connection = this.#connections.get(client) ?? new PipelinedConnection(client, this.#names);
    this.#connections.set(client, connection);
    return connection;
  }

  // Not waited for: the first statement of the transaction travels with it.
  async beginTransaction(connection: PipelinedConnection, settings: TransactionSettings): Promise<void> {
    const { isolationLevel, accessMode } = settings;
    const isolation = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
    connection.begin(`begin${isolation}${accessMode === undefined ? '' : ` ${accessMode}`}`);
  }

  commitTransaction(connection: PipelinedConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: PipelinedConnection): Promise<void> {
    return connection.rollback();
  }

  async releaseConnection(connection: PipelinedConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

const changing = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

class PipelinedConnection implements SendingConnection {
  readonly #client: pg.PoolClient;
  readonly #names: StatementNames | undefined;
  /** Statements of this transaction that nobody waits for, and the first error of one. */
  #sent: Promise<void>[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(client: pg.PoolClient, names: StatementNames | undefined) {
    this.#client = client;
    this.#names = names;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const { command, rowCount, rows } = await this.#query(query.sql, query.parameters);
      return {
        rows: rows as R[],
        ...(changing.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
      };
    } catch (error) {
      if (isStalePlan(error)) this.#names?.renew();
      // After a failed statement everything in the transaction fails: the first error is the one that tells why.
      throw this.#failure?.error ?? error;
    }
  }

  send({ sql, parameters }: CompiledQuery): void {
    this.#watch(this.#query(sql, parameters));
  }

  // The driver's own type: kysely asks for it, and nothing here streams.
  // eslint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming is not supported');
  }

  begin(statement: string): void {
    this.#sent = [];
    this.#failure = undefined;
    this.#watch(this.#client.query(statement));
  }

  async commit(): Promise<void> {
    const committed = this.#client.query('commit');
    // PostgreSQL answers in order, so what was sent before has its result by then.
    await Promise.all([committed, ...this.#sent]);
    if (this.#failure) throw this.#failure.error;
  }

  async rollback(): Promise<void> {
    await this.#client.query('rollback');
    await Promise.all(this.#sent);
  }

  release(): void {
    this.#client.release();
  }

  #query(sql: string, parameters: readonly unknown[]): Promise<pg.QueryResult> {
    const name = this.#names?.of(sql);
    const values = [...parameters];
    return this.#client.query(name === undefined ? { text: sql, values } : { name, text: sql, values });
  }

  #watch(result: Promise<unknown>): void {
    this.#sent.push(
      result.then(
        () => undefined,
        (error: unknown) => {
          if (isStalePlan(error)) this.#names?.renew();
          this.#failure ??= { error };
        },
      ),
    );
  }
}
