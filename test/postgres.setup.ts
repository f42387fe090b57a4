/** Starts one PostgreSQL for the whole run; tests read its address with `inject('postgresUrl')` and make databases of their own in it. */
import { writeFile } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../scripts/find-postgres.mjs';

declare module 'vitest' {
  export interface ProvidedContext {
    /** `postgres://…` of a superuser, or empty where no PostgreSQL could be had: tests on it are then skipped. */
    postgresUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const postgres = await startPostgres();
  if ('url' in postgres) {
    project.provide('postgresUrl', postgres.url);
    return postgres.stop;
  }
  if (process.env['CI'] === 'true') throw new Error(`No PostgreSQL could be had: ${postgres.reason}`);
  const message = `The tests on PostgreSQL are skipped, because none could be had: ${postgres.reason}`;
  console.warn(`\n${message}\n`);
  if (process.env['TEST_MISSING']) await writeFile(process.env['TEST_MISSING'], message);
  project.provide('postgresUrl', '');
  return undefined;
}
