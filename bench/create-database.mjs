/** An empty database for a benchmark, on either engine. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../scripts/find-postgres.mjs';

/**
 * @param {string} engine
 * @param {string} directory where a SQLite file goes
 * @param {(() => Promise<void>)[]} stops gets what removes it, to be run in reverse order
 * @returns {Promise<string>} its URL
 */
export async function createDatabase(engine, directory, stops) {
  if (engine === 'sqlite') return `sqlite:${join(directory, `${randomBytes(6).toString('hex')}.db`)}`;
  if (engine !== 'postgres') throw new Error('--database is sqlite or postgres');
  const postgres = await startPostgres();
  if ('reason' in postgres) throw new Error(`No PostgreSQL: ${postgres.reason}`);
  stops.push(postgres.stop);
  // A database of its own, since the server may be one that is used for other things too.
  const name = `bench_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  stops.push(async () => {
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  });
  return Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;
}
