/** The handles that queries run on, and the engine behind them. */
import { PostgresAdapter, type Kysely, type Transaction as KyselyTransaction } from 'kysely';
import type { Schema } from './schema.js';

export type Engine = 'sqlite' | 'postgres';

/** A write transaction. */
export type Transaction = KyselyTransaction<Schema>;

/** For reads, inside or outside a transaction. */
export type Reader = Kysely<Schema>;

/** The engine that a handle or a transaction runs on. */
export function engineOf(reader: Reader): Engine {
  return reader.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}
