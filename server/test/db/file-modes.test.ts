/** The files of a SQLite database can be read by the server's own user alone. */
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pino } from 'pino';
import { openDatabase } from '../../src/db/open.js';
import { runCommandLine } from '../support/command-line.js';
import { engines } from '../support/engines.js';
import { startServer } from '../support/server.js';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'crypto-checkout-modes-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

async function open(path: string): Promise<string[]> {
  const warnings: string[] = [];
  const database = await openDatabase(`sqlite:${path}`, { warn: (message) => warnings.push(message) });
  await database.write((transaction) =>
    transaction
      .insertInto('settings')
      .values({ name: 'a', value: 'b' })
      .onConflict((c) => c.doNothing())
      .execute(),
  );
  for (const name of await readdir(join(path, '..'))) {
    if (name.startsWith('checkout.db'))
      expect([name, await modeOf(join(path, '..', name))]).toEqual([name, '600']);
  }
  await database.close();
  return warnings;
}

it('A new database, its WAL and its folder are private, whatever the umask', async () => {
  const former = process.umask(0);
  try {
    const path = join(root, 'data', 'checkout.db');
    expect(await open(path)).toEqual([]);
    expect(await modeOf(join(root, 'data'))).toBe('700');
  } finally {
    process.umask(former);
  }
});

it('An open one is mended at the start, which says so', async () => {
  const folder = join(root, 'data');
  const path = join(folder, 'checkout.db');
  await open(path);
  await chmod(path, 0o644);
  await chmod(folder, 0o755);
  const warnings = await open(path);
  expect(warnings).toEqual([
    expect.stringContaining(`${path}. It is mode 600 now`),
    expect.stringContaining(`${folder}. It is mode 700 now`),
  ]);
  expect([await modeOf(path), await modeOf(folder)]).toEqual(['600', '700']);
  expect(await open(path)).toEqual([]);
});

it('The server says in its log what it mended', async () => {
  const path = join(root, 'data', 'checkout.db');
  await open(path);
  await chmod(path, 0o644);
  const lines: string[] = [];
  const [engine] = engines;
  if (!engine) throw new Error('No database engine is available');
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const server = await startServer({ engine, databaseUrl: `sqlite:${path}`, log });
  await server.stop();
  expect(lines.join('')).toContain(`${path}. It is mode 600 now`);
});

it('A folder that holds other things is left as it is', async () => {
  const folder = join(root, 'home');
  await mkdir(folder);
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'notes.txt'), '');
  await open(join(folder, 'checkout.db'));
  expect(await modeOf(folder)).toBe('755');
});

it('A backup is private', async () => {
  const path = join(root, 'data', 'checkout.db');
  await open(path);
  const backup = join(root, 'backup.db');
  const { exitCode, stderr } = await runCommandLine(`sqlite:${path}`, ['database', 'backup', backup]);
  expect([exitCode, stderr]).toEqual([0, `Database: ${path}\n`]);
  expect(await modeOf(backup)).toBe('600');
  expect((await stat(backup)).size).toBeGreaterThan(0);
  const again = await runCommandLine(`sqlite:${path}`, ['database', 'backup', backup]);
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringMatching(/exists/)]);
});
