/** What a database does, whichever engine it is. */
import type { Engine, Reader, Transaction } from './engine.js';

export interface Database {
  readonly engine: Engine;
  /** For reads outside of transactions. Using it inside `write` is an error. */
  readonly reader: Reader;
  /**
   * Runs one transaction and commits it durably. On a deadlock or a serialization failure it runs
   * again, so `work` must not have effects outside the database.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Runs several reads on one state of the database. They see no later commits, and nobody waits for them. */
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

export interface DatabaseOptions {
  /** Whether PostgreSQL keeps prepared statements. Poolers that share connections between clients may not allow it. */
  readonly hasPreparedStatements?: boolean;
}
