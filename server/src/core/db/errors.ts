/** Classifies the errors of both engines. */
import SqliteDatabase from 'better-sqlite3';
import type pg from 'pg';

let postgresError: typeof pg.DatabaseError | undefined;

/** Called with the driver of PostgreSQL, which takes long to load and is loaded only for that engine. */
export function knowPostgresError(type: typeof pg.DatabaseError): void {
  postgresError = type;
}

/** True if PostgreSQL itself said that something failed. */
export const isPostgresError = (error: unknown): error is pg.DatabaseError =>
  postgresError !== undefined && error instanceof postgresError;

/** The database cannot be used now, and its driver has no code for why. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

/** The server of the database takes no writes: it is a standby, or it was the primary before a failover. */
export class DatabaseReadOnly extends Error {
  override readonly name = 'DatabaseReadOnly';

  constructor() {
    super(
      'it can only be read: this is a standby, or was the primary before a failover. DATABASE_URL must lead to the primary',
    );
  }
}

/**
 * Errors of PostgreSQL after which the same statement may succeed: connection exception (08), read-only (25006), aborted or timed
 * out transaction (25P), invalid authorization (28), no such database (3D), collision (40), insufficient resources (53), lock
 * timeout (55P03), cancelled, shutting down or starting (57), system error (58). Behind a pooler also a prepared statement that
 * its connection does not know (26000) or knows already (42P05).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const postgresUnavailable = /^(08|25006|25P|26000|28|3D|40001|40003|40P01|42P05|53|55P03|57|58)/;
/** Errors that concern one transaction, and say nothing about the next. */
const postgresPassing = /^(25P|26000|40|42P05|55P03|57014)/;
/** Errors after which the connection cannot be used again. */
const postgresBroken = /^(08|25006|25P|26000|42P05|57P|58)/;
/** Errors of `pg` that have only a message, and no code. */
const connectionLost =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client (has encountered|was closed)|Query read timeout|Received unexpected)/;
const systemCodes = new Set([
  'ENOSPC',
  'EROFS',
  'EIO',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const sqliteUnavailable = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOMEM|PROTOCOL)/;

/** True if the database is temporarily unavailable, so that a retry may help. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable || error instanceof DatabaseReadOnly) return true;
  if (isPostgresError(error)) return postgresUnavailable.test(error.code ?? '');
  if (error instanceof SqliteDatabase.SqliteError) return sqliteUnavailable.test(error.code);
  // If all addresses of a host refuse the connection, Node.js throws one AggregateError.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isUnavailable);
  if (!(error instanceof Error)) return false;
  return ('code' in error && systemCodes.has(String(error.code))) || connectionLost.test(error.message);
}

/** True if PostgreSQL refused to write. After a failover, so do all connections to the old primary. */
export function isReadOnly(error: unknown): boolean {
  if (error instanceof DatabaseReadOnly) return true;
  return isPostgresError(error) && error.code === '25006';
}

/** True if the connection to PostgreSQL that had this error must not be used again. */
export function breaksConnection(error: unknown): boolean {
  if (isPostgresError(error)) return postgresBroken.test(error.code ?? '');
  return isUnavailable(error);
}

/** The reasons why a database is out of service, by the code of the error. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/^(SQLITE_FULL|ENOSPC|53100)/, 'the disk is full'],
  [/^SQLITE_(BUSY|LOCKED)/, 'another program keeps its file locked'],
  [/^SQLITE|EROFS|EIO/, 'its file cannot be read or written'],
  [/^25006/, 'it can only be read, as a standby'],
  [/^53/, 'it has no connections or memory left'],
];
/** A chain of causes can be a circle. */
const maxCauses = 5;

/** Why the database is out of service, for operators; undefined for any other error. */
export function outageReason(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > maxCauses) return undefined;
  if (!isUnavailable(error)) return outageReason(error.cause, depth + 1);
  const code = isReadOnly(error) ? '25006' : 'code' in error ? String(error.code) : '';
  if (isPostgresError(error) && postgresPassing.test(code)) return undefined;
  return reasons.find(([pattern]) => pattern.test(code))?.[1] ?? 'it cannot be reached';
}

/** True if PostgreSQL runs, but has no database of this name. */
export function isMissingDatabase(error: unknown): boolean {
  return isPostgresError(error) && error.code === '3D000';
}

/** Serialization failure and deadlock. */
const collisions = new Set(['40001', '40P01']);

/** True if two transactions collided, so that the whole transaction must run again. Only PostgreSQL has this. */
export function isCollision(error: unknown): boolean {
  return isPostgresError(error) && collisions.has(error.code ?? '');
}

/**
 * A migration of another release changed the columns that a prepared statement returns. It must be prepared again. The
 * code covers more, and the message is in the database's language.
 */
export function isStalePlan(error: unknown): boolean {
  return isPostgresError(error) && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';
}

/** True if a unique index rejected a row. On PostgreSQL the transaction can then only be rolled back. */
export function isUniqueViolation(error: unknown): boolean {
  if (isPostgresError(error)) return error.code === '23505';
  return error instanceof SqliteDatabase.SqliteError && error.code === 'SQLITE_CONSTRAINT_UNIQUE';
}
