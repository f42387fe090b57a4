/** Row locks, which only PostgreSQL has. */
import { sql, type SelectQueryBuilder } from 'kysely';
import { engineOf, type Reader, type Transaction } from './engine.js';

/** For `$call`: adds `FOR UPDATE` on PostgreSQL. SQLite does not need it: it runs one write transaction at a time. */
export function forUpdate(transaction: Reader) {
  const isPostgres = engineOf(transaction) === 'postgres';
  return <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O> =>
    isPostgres ? query.forUpdate() : query;
}

/**
 * For `$call`: adds `FOR UPDATE SKIP LOCKED` on PostgreSQL, so that replicas share work without waiting for each other:
 * each skips the rows that another one has locked.
 * @param table of a join, the one whose rows are locked; all by default
 */
export function forUpdateSkipLocked(transaction: Reader, table?: string) {
  const isPostgres = engineOf(transaction) === 'postgres';
  return <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O> =>
    isPostgres ? query.forUpdate(table as never).skipLocked() : query;
}

/** For `$call`: adds `FOR SHARE` on PostgreSQL, so that the row cannot change until the transaction ends. */
export function forShare(transaction: Reader) {
  const isPostgres = engineOf(transaction) === 'postgres';
  return <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O> =>
    isPostgres ? query.forShare() : query;
}

/** Waits for transactions that hold the same name, and holds it until this one ends. */
export async function lockName(transaction: Transaction, name: string): Promise<void> {
  if (engineOf(transaction) === 'sqlite') return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction);
}
