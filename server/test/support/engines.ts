/** Creates fresh databases on both engines, for tests that run on each. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { openDatabase } from '../../src/database.js';

export interface TestDatabase {
  /** In the format of `DATABASE_URL`. */
  readonly url: string;
  /** Removes the database. On PostgreSQL this ends its remaining connections. */
  dispose(): Promise<void>;
}

export interface TestEngine {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** Creates a migrated database. */
  create(): Promise<TestDatabase>;
  /** Creates a database without tables, for tests of the migration itself. */
  createEmpty(): Promise<TestDatabase>;
}

export const sqlite: TestEngine = {
  name: 'SQLite',
  async create() {
    migrated ??= migrateSqlite();
    const content = await migrated;
    const database = await createSqlite();
    await writeFile(pathOf(database), content, { mode: 0o600 });
    return database;
  },
  createEmpty: createSqlite,
};

/** A migrated file, which is copied. Migrating each time takes ten times as long. */
let migrated: Promise<Buffer> | undefined;

async function migrateSqlite(): Promise<Buffer> {
  const template = await createSqlite();
  const database = await openDatabase(template.url);
  await database.close();
  const content = await readFile(pathOf(template));
  await template.dispose();
  return content;
}

const pathOf = ({ url }: TestDatabase) => url.slice('sqlite:'.length);

/** The first one who opens it migrates it. */
async function createSqlite(): Promise<TestDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  return {
    url: `sqlite:${join(directory, 'checkout.db')}`,
    dispose: () => rm(directory, { recursive: true, force: true }),
  };
}

const postgresUrl = inject('postgresUrl');
const template = inject('postgresTemplate');
/** The key of the advisory lock that one test process holds while it creates the template. The number is arbitrary. */
const templateLock = 5_203_117;
/** The way in which databases are copied from the template. */
let copying: Promise<string> | undefined;

const postgres: TestEngine = {
  name: 'PostgreSQL',
  async create() {
    copying ??= withClient(async (client) => {
      await createTemplate(client);
      return chooseCopying(client);
    });
    return createPostgres(await copying);
  },
  createEmpty: () => createPostgres(''),
};

async function createPostgres(options: string): Promise<TestDatabase> {
  const name = `checkout_${randomBytes(6).toString('hex')}`;
  await withClient((client) => client.query(`create database ${name} ${options}`));
  return {
    url: urlOf(name),
    async dispose() {
      await withClient((client) => client.query(`drop database ${name} with (force)`));
    },
  };
}

/** Migrates one database for the whole run, because migrating each of hundreds takes far longer than copying it. */
async function createTemplate(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [templateLock]);
  const { rowCount } = await client.query('select from pg_database where datname = $1', [template]);
  if (rowCount === 1) return;
  const unfinished = `${template}_unfinished`;
  await client.query(`create database ${unfinished}`);
  const database = await openDatabase(urlOf(unfinished));
  await database.close();
  await client.query(`alter database ${unfinished} rename to ${template}`);
}

/** If the files are in memory, copying them is faster than writing them through the log. On a disk it is slower. */
async function chooseCopying(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ isInMemory: boolean }>(
    `select current_setting('data_directory') like '/dev/shm/%' and current_setting('server_version_num')::int >= 150000 as "isInMemory"`,
  );
  return `template ${template}${rows[0]?.isInMemory ? ' strategy file_copy' : ''}`;
}

function urlOf(name: string): string {
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function withClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    // This also releases an advisory lock.
    await client.end();
  }
}

/** The available engines. If one is missing, the global setup prints the reason, and fails if CI=true. */
export const engines: readonly TestEngine[] = postgresUrl === '' ? [sqlite] : [sqlite, postgres];

/**
 * The engines of a file that takes long: `npm test` runs it on SQLite, and `npm run test:long` on PostgreSQL. A file
 * that is run separately runs on both. `scripts/test.mjs` knows such a file by this name.
 */
export const enginesOfTurn: readonly TestEngine[] = engines.filter(
  ({ name }, index) =>
    (process.env['TEST_TURN'] !== 'quick' || name === 'SQLite') &&
    (process.env['TEST_TURN'] !== 'long' || index === engines.length - 1),
);

/**
 * The engines of a quick file that uses both databases the same way: SQLite, and in a soak or when it is run separately PostgreSQL as well.
 * `scripts/soak.mjs` knows such a file by this name.
 */
export const enginesOfQuick: readonly TestEngine[] = process.env['TEST_TURN'] ? [sqlite] : engines;

/**
 * The engines of a long file about chains, nodes or other servers, which use both databases the same way: PostgreSQL, and in a soak SQLite as
 * well. `scripts/soak.mjs` knows such a file by this name.
 */
export const enginesOfSoak: readonly TestEngine[] = process.env['SOAK'] ? engines : engines.slice(-1);

/** PostgreSQL, if there is one: for the long variants of tests that `npm test` runs only on SQLite. */
export const lastEngine: TestEngine = postgresUrl === '' ? sqlite : postgres;
