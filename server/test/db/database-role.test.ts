/**
 * The role that compose.yaml makes: the server starts, migrates and sells with it, and it can use no other database.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { engines, lastEngine } from '../support/engines.js';
import { startServer } from '../support/server.js';
import { openShop } from '../support/shop.js';

const postgres = engines.find(({ name }) => name === 'PostgreSQL');

/** The statements of compose.yaml, for a role and a database of other names, without those about the superuser. */
function statements(name: string): string[] {
  const compose = readFileSync(new URL('../../../compose.yaml', import.meta.url), 'utf8');
  const [, script = ''] = /^ {4}content: \|\n((?: {6}.+\n)+)/m.exec(compose) ?? [];
  return script
    .replaceAll('${POSTGRES_PASSWORD}', 'secret')
    .replaceAll(/\bcheckout\b/g, name)
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '' && !/\bpostgres\b/.test(statement));
}

describe.skipIf(!postgres)('the role of compose.yaml', () => {
  it('The role of compose.yaml is enough for the server, but cannot create roles, run programs or read files', async () => {
    const engine = postgres ?? lastEngine;
    const other = await engine.create();
    onTestFinished(() => other.dispose());
    const admin = new pg.Client({ connectionString: other.url });
    await admin.connect();
    const name = `role_${randomBytes(6).toString('hex')}`;
    onTestFinished(async () => {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.query(`drop role if exists ${name}`);
      await admin.end();
    });
    const all = statements(name);
    expect(all.length).toBe(4);
    for (const statement of all) await admin.query(statement);

    const url = Object.assign(new URL(other.url), {
      username: name,
      password: 'secret',
      pathname: `/${name}`,
    });
    const server = await startServer({ engine, databaseUrl: url.href });
    await openShop(server).create();
    await server.stop();

    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    for (const statement of [
      'create role thief superuser',
      'create database another',
      "copy payments to program 'cat'",
      "select pg_read_file('postgresql.conf')",
    ]) {
      await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' });
    }
    await client.end();
  });
});
