/** A fresh database on each engine, for tests that hold on both. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';

export interface TestDatabase {
  /** As `DATABASE_URL` takes it. */
  readonly url: string;
  /** Removes the database; nobody may be connected any more. */
  dispose(): Promise<void>;
}

export interface TestEngine {
  readonly name: 'SQLite' | 'PostgreSQL';
  create(): Promise<TestDatabase>;
}

const sqlite: TestEngine = {
  name: 'SQLite',
  async create() {
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    return {
      url: `sqlite:${join(directory, 'checkout.db')}`,
      dispose: () => rm(directory, { recursive: true, force: true }),
    };
  },
};

const postgresUrl = inject('postgresUrl');

const postgres: TestEngine = {
  name: 'PostgreSQL',
  async create() {
    const name = `checkout_${randomBytes(6).toString('hex')}`;
    await run(`create database ${name}`);
    const url = new URL(postgresUrl);
    url.pathname = `/${name}`;
    return { url: url.href, dispose: () => run(`drop database ${name} with (force)`) };
  },
};

async function run(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The engines that can be had here; the run's setup says why one cannot, and fails when CI=true. */
export const engines: readonly TestEngine[] = postgresUrl === '' ? [sqlite] : [sqlite, postgres];
