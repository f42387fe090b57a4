/** Backs up a test's database and puts it back, as docs/backup.md says. */
import { execFile } from 'node:child_process';
import { copyFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { TestEngine } from '../support/engines.js';

const run = promisify(execFile);

/** @param command runs a command line of the server */
export async function backUp(
  engine: TestEngine,
  url: string,
  backup: string,
  command: (line: string) => Promise<unknown>,
): Promise<void> {
  if (engine.name === 'SQLite') await command(`database backup ${backup}`);
  else await run('pg_dump', ['--format=custom', `--file=${backup}`, url]);
}

/** Only while no server runs. */
export async function restoreFrom(engine: TestEngine, url: string, backup: string): Promise<void> {
  if (engine.name === 'SQLite') {
    const file = url.slice('sqlite:'.length);
    for (const end of ['-wal', '-shm']) await rm(`${file}${end}`, { force: true });
    await copyFile(backup, file);
  } else await run('pg_restore', ['--clean', '--if-exists', `--dbname=${url}`, backup]);
}
