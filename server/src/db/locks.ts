/** Row locks, on the engine that has them. */
import type { SelectQueryBuilder } from 'kysely';
import { engineOf, type Reader } from './engine.js';

/** For `$call`: adds `FOR UPDATE` on PostgreSQL. SQLite does not know it, and a write transaction there is alone anyway. */
export function forUpdate(transaction: Reader) {
  const isPostgres = engineOf(transaction) === 'postgres';
  return <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O> =>
    isPostgres ? query.forUpdate() : query;
}

/**
 * For `$call`: adds `FOR UPDATE SKIP LOCKED` on PostgreSQL, so that servers on one database share work without
 * waiting for each other: a row that another one works on is passed over.
 */
export function forUpdateSkipLocked(transaction: Reader) {
  const isPostgres = engineOf(transaction) === 'postgres';
  return <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O> =>
    isPostgres ? query.forUpdate().skipLocked() : query;
}

/** For `$call`: adds `FOR SHARE` on PostgreSQL: the row stays as it is read until the transaction ends. */
export function forShare(transaction: Reader) {
  const isPostgres = engineOf(transaction) === 'postgres';
  return <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O> =>
    isPostgres ? query.forShare() : query;
}
