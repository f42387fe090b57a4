/** Creates an empty database for a benchmark, on either engine. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../scripts/find-postgres.mjs';

/**
 * @param {string} engine
 * @param {string} directory for the SQLite file
 * @param {(() => Promise<void>)[]} stops clean-up functions are added here; run them in reverse order
 * @param {readonly string[]} [settings] of PostgreSQL, each as `name=value`
 * @returns {Promise<string>} its URL
 */
export async function createDatabase(engine, directory, stops, settings = []) {
  if (engine === 'sqlite') return `sqlite:${join(directory, `${randomBytes(6).toString('hex')}.db`)}`;
  if (engine !== 'postgres') throw new Error('--database must be sqlite or postgres');
  const postgres = await startPostgres(settings);
  if ('reason' in postgres) throw new Error(`No PostgreSQL: ${postgres.reason}`);
  stops.push(postgres.stop);
  // A new database, because the PostgreSQL may be used for other things too.
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
