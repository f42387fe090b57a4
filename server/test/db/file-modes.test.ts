/** The files of a SQLite database can be read only by the server's own user. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pino } from 'pino';
import { openDatabase } from '../../src/database.js';
import { runCommandLine } from '../support/command-line.js';
import { engines } from '../support/engines.js';
import { startServer } from '../support/server.js';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'crypto-checkout-modes-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

async function openAndClose(path: string): Promise<string[]> {
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
  const previous = process.umask(0);
  try {
    const path = join(root, 'data', 'checkout.db');
    expect(await openAndClose(path)).toEqual([]);
    expect(await modeOf(join(root, 'data'))).toBe('700');
  } finally {
    process.umask(previous);
  }
});

it('A file that others can read is made private at the start, which says so', async () => {
  const folder = join(root, 'data');
  const path = join(folder, 'checkout.db');
  await openAndClose(path);
  await chmod(path, 0o644);
  await chmod(folder, 0o755);
  const warnings = await openAndClose(path);
  // SQLite makes the other two like the first.
  expect(warnings).toEqual([
    expect.stringContaining(`${path}. It is mode 600 now`),
    expect.stringContaining(`${path}-wal. It is mode 600 now`),
    expect.stringContaining(`${path}-shm. It is mode 600 now`),
    expect.stringContaining(`${folder}. It is mode 700 now`),
  ]);
  expect([await modeOf(path), await modeOf(folder)]).toEqual(['600', '700']);
  expect(await openAndClose(path)).toEqual([]);
});

it('The server logs which modes it changed', async () => {
  const path = join(root, 'data', 'checkout.db');
  await openAndClose(path);
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
  await openAndClose(join(folder, 'checkout.db'));
  expect(await modeOf(folder)).toBe('755');
});

it('A backup is private', async () => {
  const path = join(root, 'data', 'checkout.db');
  await openAndClose(path);
  const backup = join(root, 'backup.db');
  const { exitCode, stderr } = await runCommandLine(`sqlite:${path}`, ['database', 'backup', backup]);
  expect([exitCode, stderr]).toEqual([0, `Database: ${path}\n`]);
  expect(await modeOf(backup)).toBe('600');
  expect((await stat(backup)).size).toBeGreaterThan(0);
  const again = await runCommandLine(`sqlite:${path}`, ['database', 'backup', backup]);
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringMatching(/exists/)]);
});

it('Nothing is touched that is not ours: a folder, a file of somebody, the database of another program', async () => {
  const folder = join(root, 'folder');
  await mkdir(folder);
  const notes = join(root, 'notes.txt');
  await writeFile(notes, 'My notes, which others may read');
  const foreign = join(root, 'foreign.db');
  const other = new SqliteDatabase(foreign);
  other.exec('create table recipes (name text)');
  other.close();
  const before = await readFile(foreign);
  for (const [path, why] of [
    [folder, /is a folder/],
    [notes, /is not a SQLite database/],
    [foreign, /is the database of another program/],
  ] as const) {
    await chmod(path, 0o755);
    await expect(openDatabase(`sqlite:${path}`, { isServer: true })).rejects.toThrow(why);
    expect(await modeOf(path)).toBe('755');
  }
  expect(await readFile(foreign)).toEqual(before);
  expect((await readdir(root)).sort()).toEqual(['folder', 'foreign.db', 'notes.txt']);
});

it('A folder that cannot be made is reported at once', async () => {
  const startedAt = performance.now();
  await expect(openDatabase('sqlite:/proc/nope/x.db')).rejects.toThrow(
    /^the folder \/proc\/nope cannot be made \(ENOENT/,
  );
  expect(performance.now() - startedAt).toBeLessThan(2000);
});

it.runIf(process.getuid?.() === 0)(
  "Another user's database is not missing: permission is denied",
  async () => {
    const path = join(root, 'data', 'checkout.db');
    await openAndClose(path);
    process.seteuid?.(65_534);
    try {
      for (const mustExist of ['at this release', 'at any release', undefined] as const) {
        await expect(openDatabase(`sqlite:${path}`, mustExist && { mustExist })).rejects.toThrow(
          `permission denied for ${path}. Run this as the user that the server runs as`,
        );
      }
    } finally {
      process.seteuid?.(0);
    }
  },
);

it('A second server on one file is refused in one sentence, commands run next to the first server, and the lock ends with it', async () => {
  const path = join(root, 'data', 'checkout.db');
  const [engine] = engines;
  if (!engine) throw new Error('No database engine is available');
  const first = await startServer({ engine, databaseUrl: `sqlite:${path}` });
  await expect(startServer({ engine, databaseUrl: `sqlite:${path}` })).rejects.toThrow(
    `DATABASE_URL: the database cannot be opened: another server uses ${path}. Stop it first`,
  );
  const command = await openDatabase(`sqlite:${path}`, { mustExist: 'at this release' });
  await command.close();
  await first.stop();
  const next = await startServer({ engine, databaseUrl: `sqlite:${path}` });
  await next.stop();
});
