/** Starts one PostgreSQL for the whole run; tests read its address with `inject('postgresUrl')` and make databases of their own in it. */
import { randomBytes } from 'node:crypto';
import { env } from 'node:process';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../scripts/find-postgres.mjs';
import { reportSkipped } from './missing.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** `postgres://…` of a superuser, or empty where no PostgreSQL could be had: tests on it are then skipped. */
    postgresUrl: string;
    /** The name of the migrated database that tests copy. The first test that needs it creates it. */
    postgresTemplate: string;
  }
}

/**
 * No test stops PostgreSQL or the machine, so nothing has to reach a disk. Hundreds of small databases that live for seconds
 * need no vacuum.
 */
const settings = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'autovacuum=off',
  'jit=off',
  'shared_buffers=64MB',
];

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  // Traffic for some minutes is measured on a database that is as durable as in production.
  const postgres = await startPostgres(env['SOAK_MINUTES'] ? [] : settings);
  const template = `checkout_template_${randomBytes(6).toString('hex')}`;
  project.provide('postgresTemplate', template);
  if ('url' in postgres) {
    project.provide('postgresUrl', postgres.url);
    return async () => {
      await dropDatabase(postgres.url, template);
      await postgres.stop();
    };
  }
  reportSkipped('The tests on PostgreSQL', postgres.reason);
  project.provide('postgresUrl', '');
  return undefined;
}

/** The server of `TEST_DATABASE_URL` keeps running, so nothing may be left behind in it. */
async function dropDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`drop database if exists ${name} with (force)`);
  await client.end();
}
