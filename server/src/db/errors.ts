/** What the engines' errors mean. */
import { SqliteError } from 'better-sqlite3';
import pg from 'pg';

/** Whether a row was refused because another one has its unique key. */
export function isUniqueViolation(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === '23505';
  return (
    error instanceof SqliteError &&
    (error.code === 'SQLITE_CONSTRAINT_UNIQUE' || error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY')
  );
}
