/** Opens the database that `DATABASE_URL` names. */
import type { Database, DatabaseOptions } from './database.js';
import { openPostgres } from './postgres.js';
import { openSqlite } from './sqlite.js';

/**
 * Opens and migrates a SQLite or PostgreSQL database.
 * @param url `sqlite:PATH`, `sqlite::memory:` or `postgres://…`
 * @throws if the URL has neither form or the database cannot be reached
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length), options);
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url, options);
  throw new Error('DATABASE_URL must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME');
}
