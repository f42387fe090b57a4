/**
 * The connections to PostgreSQL: each is tried when it is opened, and one that broke, or leads to the previous primary,
 * is not used again.
 */
import type { Socket } from 'node:net';
import pg from 'pg';
import {
  breaksConnection,
  DatabaseReadOnly,
  DatabaseUnavailable,
  isPostgresError,
  isReadOnly,
  isUnavailable,
  knowPostgresError,
} from './errors.js';

knowPostgresError(pg.DatabaseError);

const connectionLimit = 10;
/** Also how long a connection may take to be tried. */
const connectMs = 5000;
/** A name that leads to another server since then is noticed by then, even if the old one still answers. */
const lifetimeSeconds = 900;
/** A peer that vanished without a word is noticed within 20 s while nothing is on the way to it. */
const probeAfterMs = 10_000;

/**
 * The settings of each connection. Compiling a plan takes half a second, and no query here runs that long: PostgreSQL
 * would compile those of deep pages. A replica that freezes or loses its network must not keep rows locked until TCP
 * times out, hours later.
 */
const settings = { jit: 'off', idle_in_transaction_session_timeout: '30s' };

/** The messages of `pg` if there was no answer in time. */
const unanswered =
  /^(Query read timeout|timeout exceeded when|Connection terminated due to connection timeout)/;

const canOnlyRead = `pg_is_in_recovery() or current_setting('transaction_read_only')::boolean`;

/**
 * Tries a new connection. A pooler hides the process that serves it, and lends the connection to others after each transaction:
 * there the settings must not outlive the statement.
 */
const tryOf = (processId: number) => `
  select is_shared as "isShared", ${canOnlyRead} as "isReadOnly",
    ${Object.entries(settings)
      .map(([name, value]) => `set_config('${name}', '${value}', is_shared)`)
      .join(', ')}
  from (select pg_backend_pid() <> ${processId} as is_shared) as connection`;

const setLocal = Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}'`);

interface Opened {
  readonly isShared: boolean;
  /** The number of read-only servers that were met before. */
  readonly generation: number;
  /** Why it broke while nobody used it. */
  fault?: Error;
}

/** Properties that pg has and its types lack. */
type Client = pg.PoolClient & {
  readonly processID: number | null;
  readonly connection: { readonly stream: Socket };
  getTransactionStatus(): 'I' | 'T' | 'E' | null;
};
type Timed = pg.QueryConfig & { readonly query_timeout?: number };

export type PostgresPool = ReturnType<typeof createPostgresPool>;

export function createPostgresPool(connectionString: string, types: pg.CustomTypesConfig) {
  const opened = new WeakMap<pg.ClientBase, Opened>();
  const inUse = new Set<Client>();
  let generation = 0;

  async function tryConnection(client: Client): Promise<void> {
    const query: Timed = { text: tryOf(client.processID ?? 0), query_timeout: connectMs };
    const { rows } = await client.query<{ isShared: boolean; isReadOnly: boolean }>(query);
    if (rows[0]?.isReadOnly !== false) throw new DatabaseReadOnly();
    opened.set(client, { isShared: rows[0].isShared, generation });
  }

  // pg's types lack `pipeline`, and a hook that takes its time.
  const options = {
    connectionString,
    max: connectionLimit,
    types,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: probeAfterMs,
    maxLifetimeSeconds: lifetimeSeconds,
    // Sends statements without waiting for earlier results. PostgreSQL answers in order.
    pipeline: true,
    onConnect: tryConnection as (client: pg.ClientBase) => Promise<void>,
  };
  const pool = new pg.Pool(options);
  // The next query replaces a broken idle connection, and reports the error if it cannot.
  pool.on('error', () => {});
  // A connection can also break between two queries of a transaction. Without this listener, the process would crash.
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      const known = opened.get(client);
      if (known) known.fault ??= error;
    });
  });

  /** Has connections to a server that no longer accepts writes closed as soon as they are free. */
  function renew(client: pg.ClientBase): void {
    if (opened.get(client)?.generation === generation) generation += 1;
  }

  async function acquire(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await pool.connect().catch((error: unknown) => {
        if (isUnavailable(error) || !(error instanceof Error)) throw error;
        // A TLS error, for example.
        throw new DatabaseUnavailable(error.message, { cause: error });
      });
      if (opened.get(client)?.generation === generation) {
        inUse.add(client as Client);
        return client;
      }
      client.release(true);
    }
  }

  /** @returns the error to report: the cause, where pg only says that the connection is lost */
  function note(client: pg.ClientBase, error: unknown): unknown {
    if (isReadOnly(error)) renew(client);
    const isCause = isPostgresError(error) || !(error instanceof Error);
    return isCause ? error : (opened.get(client)?.fault ?? error);
  }

  /** @param error that the work on it had */
  function release(client: pg.PoolClient, error?: unknown): void {
    inUse.delete(client as Client);
    const isOld = opened.get(client)?.generation !== generation;
    const isInTransaction = (client as Client).getTransactionStatus() !== 'I';
    client.release(isOld || isInTransaction || (error !== undefined && breaksConnection(error)));
  }

  /** Runs one statement on a connection of its own. */
  async function query<Row extends object>(statement: Timed): Promise<Row[]> {
    const client = await acquire();
    let failure: unknown;
    try {
      return (await client.query<Row>(statement)).rows;
    } catch (error) {
      failure = note(client, error);
      throw failure;
    } finally {
      release(client, failure);
    }
  }

  /**
   * The processes of PostgreSQL, by a connection of its own; undefined if it does not answer.
   * @throws its refusal of another connection, which is an answer
   */
  async function readProcesses(): Promise<ReadonlySet<number> | undefined> {
    const client = new pg.Client({
      connectionString,
      connectionTimeoutMillis: connectMs,
      query_timeout: connectMs,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity');
      return new Set(rows.map(({ pid }) => pid));
    } catch (error) {
      if (isPostgresError(error)) throw error;
      return undefined;
    } finally {
      void client.end().catch(() => {});
    }
  }

  /**
   * Ends connections whose peer disappeared without closing them. Their users would otherwise wait for as long as TCP
   * does: minutes.
   */
  async function cutDead(): Promise<void> {
    const suspects = [...inUse];
    const processes = await readProcesses();
    for (const client of suspects) {
      const isAlive = opened.get(client)?.isShared === true || processes?.has(client.processID ?? 0);
      if (inUse.has(client) && !(processes && isAlive)) client.connection.stream.destroy();
    }
  }

  return {
    types,
    acquire,
    note,
    release,
    query,
    /** The settings that follow BEGIN on a connection, in the same packet. */
    settingsOf: (client: pg.PoolClient): readonly string[] => (opened.get(client)?.isShared ? setLocal : []),
    /** True if there is a pooler in front of PostgreSQL. */
    isShared: (client: pg.PoolClient) => opened.get(client)?.isShared === true,
    /** @throws if PostgreSQL does not answer, or takes no writes */
    async ping(): Promise<void> {
      const statement: Timed = { text: `select ${canOnlyRead} as "isReadOnly"`, query_timeout: connectMs };
      const [row] = await query<{ isReadOnly: boolean }>(statement).catch(async (error: unknown) => {
        if (error instanceof Error && unanswered.test(error.message)) await cutDead().catch(() => undefined);
        throw error;
      });
      if (row?.isReadOnly === false) return;
      generation += 1;
      throw new DatabaseReadOnly();
    },
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    /** Work that still waits for an answer gets an error instead. */
    async end(): Promise<void> {
      for (const client of inUse) client.connection.stream.destroy();
      await pool.end();
    },
  };
}
