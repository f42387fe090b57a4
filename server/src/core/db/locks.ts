/** Row locks, which only PostgreSQL has. */
import { sql, type SelectQueryBuilder } from 'kysely';
import { engineOf, type Reader, type Transaction } from './engine.js';

type Lock = <DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
) => SelectQueryBuilder<DB, TB, O>;

/** SQLite needs no row locks: it runs one write transaction at a time. */
const onPostgres = (transaction: Reader, lock: Lock): Lock =>
  engineOf(transaction) === 'postgres' ? lock : (query) => query;

/** For `$call`: adds `FOR UPDATE` on PostgreSQL. */
export const forUpdate = (transaction: Reader) => onPostgres(transaction, (query) => query.forUpdate());

/**
 * For `$call`: adds `FOR UPDATE SKIP LOCKED` on PostgreSQL, so that replicas share work without waiting for each other:
 * each skips the rows that another one has locked.
 * @param table of a join, the one whose rows are locked; all by default
 */
export const forUpdateSkipLocked = (transaction: Reader, table?: string) =>
  onPostgres(transaction, (query) => query.forUpdate(table as never).skipLocked());

/** For `$call`: adds `FOR SHARE` on PostgreSQL, so that the row cannot change until the transaction ends. */
export const forShare = (transaction: Reader) => onPostgres(transaction, (query) => query.forShare());

/** Waits for transactions that hold the same name, and holds it until this one ends. */
export async function lockName(transaction: Transaction, name: string): Promise<void> {
  if (engineOf(transaction) === 'sqlite') return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction);
}
