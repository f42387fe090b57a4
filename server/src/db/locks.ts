/** Row locks, on the engine that has them. */
import type { SelectQueryBuilder } from 'kysely';
import type { Transaction } from './database.js';
import { engineOf } from './prepared.js';

/** For `$call`: adds `FOR UPDATE` on PostgreSQL. SQLite does not know it, and a write transaction there is alone anyway. */
export function forUpdate(transaction: Transaction) {
  const isPostgres = engineOf(transaction) === 'postgres';
  return <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O> =>
    isPostgres ? query.forUpdate() : query;
}
