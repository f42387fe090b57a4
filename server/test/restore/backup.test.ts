/** Backups on SQLite, and what the command says where it makes none. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../support/command-line.js';
import { engines, sqlite } from '../support/engines.js';
import { startServer } from '../support/server.js';
import { testBackup } from './backup.js';

testBackup(sqlite);

describe('database backup', () => {
  it('A backup overwrites nothing, and makes no folders', async () => {
    const server = await startServer({ engine: sqlite });
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-backup-'));
    const copy = join(directory, 'copy.db');
    const backup = (file: string) => runCommandLine(server.databaseUrl, ['database', 'backup', file]);
    expect(await backup(copy)).toEqual({
      exitCode: 0,
      stdout: `Copied the database to ${copy}\n`,
      stderr: expect.stringMatching(/^Database: /) as string,
    });
    expect(await backup(copy)).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining(`\n${copy} exists already. Nothing was overwritten;`) as string,
    });
    const nowhere = join(directory, 'missing', 'copy.db');
    expect((await backup(nowhere)).stderr).toContain(`there is no folder ${join(directory, 'missing')}`);
    await server.stop();
    await rm(directory, { recursive: true });
  });

  const postgres = engines.find(({ name }) => name === 'PostgreSQL');
  it.runIf(postgres)('The backup command refers to pg_dump for PostgreSQL', async () => {
    const made = await postgres?.create();
    if (!made) return;
    const { exitCode, stderr } = await runCommandLine(made.url, ['database', 'backup', 'x']);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('pg_dump')]);
    await made.dispose();
  });
});
