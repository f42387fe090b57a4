/** Classifies the errors of both engines. */
import SqliteDatabase from 'better-sqlite3';
import pg from 'pg';

/**
 * PostgreSQL error classes: connection exception (08), invalid authorization (28), no such database (3D), insufficient
 * resources (53), shutting down or starting (57P).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const postgresUnavailable = /^(08|28|3D|53|57P)/;
/** Errors of `pg` that have only a message, and no code. */
const connectionLost =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered)/;
const systemCodes = new Set([
  'ENOSPC',
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

/** Whether the database is temporarily unavailable, so that a retry may help. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return postgresUnavailable.test(error.code ?? '');
  if (error instanceof SqliteDatabase.SqliteError) return sqliteUnavailable.test(error.code);
  // If all addresses of a host refuse the connection, Node.js throws one AggregateError.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isUnavailable);
  if (!(error instanceof Error)) return false;
  return ('code' in error && systemCodes.has(String(error.code))) || connectionLost.test(error.message);
}

/** Another process holds a lock for too long. The next attempt may succeed, so it is no outage. */
const sqliteLocked = /^SQLITE_(BUSY|LOCKED)/;
const diskFull = /^(SQLITE_FULL|ENOSPC|53100)/;
/** A chain of causes can be a circle. */
const maxCauses = 5;

/** Why the database is out of service, for operators; undefined for any other error. */
export function outageReason(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > maxCauses) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  if (!isUnavailable(error)) return outageReason(error.cause, depth + 1);
  if (sqliteLocked.test(code)) return undefined;
  if (diskFull.test(code)) return 'the disk is full';
  return code.startsWith('SQLITE') ? 'its file cannot be read or written' : 'it cannot be reached';
}

/** Whether PostgreSQL runs, but has no database of this name. */
export function isMissingDatabase(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '3D000';
}

/** Serialization failure and deadlock. */
const collisions = new Set(['40001', '40P01']);

/** Whether two transactions collided, so that the whole transaction must run again. Only PostgreSQL has this. */
export function isCollision(error: unknown): boolean {
  return error instanceof pg.DatabaseError && collisions.has(error.code ?? '');
}

/** A migration of another release changed the columns that a prepared statement returns. It must be prepared again. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '0A000' && error.message.includes('cached plan');
}

/** Whether a unique index rejected a row. On PostgreSQL the transaction can then only be rolled back. */
export function isUniqueViolation(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === '23505';
  return error instanceof SqliteDatabase.SqliteError && error.code === 'SQLITE_CONSTRAINT_UNIQUE';
}
