/** Tells errors of the engines apart: those that pass, and those that a rule answers for. */
import SqliteDatabase from 'better-sqlite3';
import pg from 'pg';

/**
 * PostgreSQL: connection exceptions (class 08), not let in (28), database gone (3D), too many connections or no
 * space (53), shutting down or starting (57P).
 */
const postgresUnavailable = /^(08|28|3D|53|57P)/;
/** What `pg` says without a code. */
const connectionLost =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered)/;
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const sqliteUnavailable = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY)/;

/** Whether the database could not be reached or cannot work at the moment, so that trying later may help. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return postgresUnavailable.test(error.code ?? '');
  if (error instanceof SqliteDatabase.SqliteError) return sqliteUnavailable.test(error.code);
  // Several addresses of one host that all refuse come as one AggregateError.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isUnavailable);
  if (!(error instanceof Error)) return false;
  return ('code' in error && networkCodes.has(String(error.code))) || connectionLost.test(error.message);
}

/** Whether a unique index refused a row. On PostgreSQL the transaction can only be rolled back after it. */
export function isUniqueViolation(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === '23505';
  return error instanceof SqliteDatabase.SqliteError && error.code === 'SQLITE_CONSTRAINT_UNIQUE';
}
