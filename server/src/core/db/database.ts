/** The database interface that both engines implement. */
import type { Tables } from './table.js';
import type { Engine, Reader, Transaction } from './engine.js';
import type { QueryParts } from './query-parts.js';

export interface Database {
  /** Each after those that it references: the order in which they are created and copied. */
  readonly tables: Tables;
  readonly engine: Engine;
  /** For reads outside transactions. Using it inside `write` or `snapshot` throws. */
  readonly reader: Reader;
  /**
   * Runs one transaction and commits it durably. It retries after a deadlock or a serialization failure, so `work` must
   * have no effects outside the database.
   * @param isLong it changes more than a request does: on SQLite, it then shares no commit with others, who would wait for it
   */
  write<T>(work: (transaction: Transaction) => Promise<T>, isLong?: boolean): Promise<T>;
  /** Runs several reads on one snapshot of the database. They see no later commits and block no writes. */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  /** Rejects unless the database answers within seconds, and takes writes. It writes nothing. */
  ping(): Promise<void>;
  /**
   * Gathers the statistics of tables that have many rows, and none or those of far fewer, on PostgreSQL, which plans as if they
   * were almost empty: after a restore, a copy or an upgrade, until the database does so itself. SQLite plans without.
   */
  gatherStatistics(): Promise<void>;
  /** The use of this process's connection pool; undefined on SQLite, which has none. */
  connections(): Connections | undefined;
  close(): Promise<void>;
}

export interface Connections {
  readonly open: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

export interface DatabaseOptions {
  /** All tables that it has, each after those that it references. */
  readonly tables: Tables;
  /** SQL of modules in queries of the core. */
  readonly queryParts?: readonly QueryParts[];
  /** True to use prepared statements on PostgreSQL, the default. Some poolers do not support them. */
  readonly hasPreparedStatements?: boolean;
  /** Gets a sentence for everything that an operator should know, such as files that other users could read. */
  readonly warn?: (message: string) => void;
  /**
   * Refuses a SQLite file that another server uses, until that server has ended. Commands run while a server does. On
   * PostgreSQL several servers share a database.
   */
  readonly isServer?: boolean;
  /** Fails if the database or its tables do not exist, instead of creating them; or also if they are those of an older release. */
  readonly mustExist?: 'at any release' | 'at this release';
}
