/** Opens the database that `DATABASE_URL` names. */
import { resolve } from 'node:path';
import { errorMessage } from '../shared/error-message.js';
import type { Database, DatabaseOptions } from './database.js';
import { isMissingDatabase } from './errors.js';
import { MissingDatabase } from './migrate.js';
import { adviceFor, checkPostgresUrl } from './postgres-url.js';
import { openSqlite } from './sqlite.js';

/**
 * Opens and migrates a SQLite or PostgreSQL database.
 * @param url `sqlite:PATH`, `sqlite::memory:` or `postgres://…`
 * @throws MissingDatabase if it does not exist and `mustExist` is set
 * @throws if the URL has neither form or the database cannot be reached
 */
export async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length), options);
  if (/^postgres(ql)?:\/\//.test(url)) {
    checkPostgresUrl(url);
    const { openPostgres } = await import('./postgres.js');
    try {
      return await openPostgres(url, options);
    } catch (error) {
      if (options.mustExist !== undefined && isMissingDatabase(error)) throw new MissingDatabase();
      const advice = adviceFor(error);
      throw advice === undefined ? error : new Error(`${errorMessage(error)}. ${advice}`, { cause: error });
    }
  }
  throw new Error('DATABASE_URL must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME');
}

/** Names a database for people: the file, or the host and the name. Never a user or a password. */
export function describeDatabase(url: string): string {
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length);
    return path === ':memory:' ? 'memory' : resolve(path);
  }
  const parsed = URL.parse(url);
  return parsed ? `${parsed.host}${decodeURIComponent(parsed.pathname)}` : 'DATABASE_URL';
}
