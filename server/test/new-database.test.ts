/** A new database: opened for trying out, and in live mode only if it is asked for. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../src/core/config.js';
import { settings } from '../src/modules.js';
import { startServer } from '../src/server.js';
import { lastEngine } from './support/engines.js';

let directory: string;
let networks: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  networks = join(directory, 'networks.json');
  // A port of this machine that nobody listens on.
  const file = { networks: { ethereum: { nodes: ['http://127.0.0.1:9'] } } };
  await writeFile(networks, JSON.stringify(file), { mode: 0o600 });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const start = (env: Readonly<Record<string, string>>) =>
  startServer(
    readConfig({ PORT: '0', RATES_FILE: join(import.meta.dirname, '../data/rates.json'), ...env }, settings),
    pino({ level: 'silent' }),
  );

it('With a live network, the server refuses to start on a file that does not exist, and makes none', async () => {
  const path = join(directory, 'wrong.db');
  await expect(start({ NETWORKS_FILE: networks, DATABASE_URL: `sqlite:${path}` })).rejects.toThrow(
    `DATABASE_URL: there is no database of this server at ${path}, and a live network is configured. Correct the URL; or, if this is the first start, set DATABASE_CREATE=on`,
  );
  expect(existsSync(path)).toBe(false);
});

it('An empty file is no database either', async () => {
  const path = join(directory, 'empty.db');
  await writeFile(path, '');
  await expect(start({ NETWORKS_FILE: networks, DATABASE_URL: `sqlite:${path}` })).rejects.toThrow(
    'there is no database of this server',
  );
});

it('With DATABASE_CREATE=on the server makes the file, and later starts on it without the setting', async () => {
  const path = join(directory, 'right.db');
  const env = { NETWORKS_FILE: networks, DATABASE_URL: `sqlite:${path}` };
  await (await start({ ...env, DATABASE_CREATE: 'on' })).stop();
  expect(existsSync(path)).toBe(true);
  await (await start(env)).stop();
});

it('Without a live network the server makes the file, unless DATABASE_CREATE is off', async () => {
  const url = (name: string) => `sqlite:${join(directory, name)}`;
  await (await start({ DATABASE_URL: url('test.db') })).stop();
  await expect(start({ DATABASE_URL: url('other.db'), DATABASE_CREATE: 'off' })).rejects.toThrow(
    'there is no database of this server',
  );
});

it(`An empty database of ${lastEngine.name} gets tables in live mode only if it is asked for`, async () => {
  const { url, dispose } = await lastEngine.createEmpty();
  const env = { NETWORKS_FILE: networks, DATABASE_URL: url };
  await expect(start(env)).rejects.toThrow('there is no database of this server');
  await expect(start(env)).rejects.toThrow('set DATABASE_CREATE=on');
  await (await start({ ...env, DATABASE_CREATE: 'on' })).stop();
  await (await start(env)).stop();
  await dispose();
});
