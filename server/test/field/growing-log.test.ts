/** Public reports about SQLite's write-ahead log: it grew while somebody read an old state, and stayed so. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../src/core/db/database.js';
import { openDatabase } from '../../src/database.js';

const limit = 64 * 2 ** 20;
let folder: string;
let database: Database;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'growing-log-'));
  database = await openDatabase(`sqlite:${path()}`, { isServer: true });
});
afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const path = () => join(folder, 'checkout.db');
const logBytes = () => statSync(`${path()}-wal`).size;

let writes = 0;
/** Writes another value each time: SQLite writes no page that stays the same. */
const write = (bytes: number) =>
  database.write((transaction) =>
    sql`insert into settings (name, value) values ('filler', ${String(writes++ % 10).repeat(bytes)})
        on conflict (name) do update set value = excluded.value`.execute(transaction),
  );

it('openclaw/openclaw#112950, superseriousbusiness/gotosocial#2808: a log that grew during a long read starts again after it, and shrinks', async () => {
  // The thread begins with the 200th commit. From then on, commits copy nothing on their own.
  const before = statSync(path()).mtimeMs;
  for (let count = 0; count < 200; count += 1) await write(100);
  await expect.poll(() => statSync(path()).mtimeMs, { timeout: 20_000 }).toBeGreaterThan(before);

  const reader = new SqliteDatabase(path(), { readonly: true });
  try {
    reader.exec('begin');
    reader.prepare('select count(*) from settings').get();
    while (logBytes() <= limit + 2 ** 20) await write(4 * 2 ** 20);
  } finally {
    reader.close();
  }
  await expect
    .poll(
      async () => {
        await write(100);
        return logBytes();
      },
      { timeout: 20_000, interval: 50 },
    )
    .toBeLessThanOrEqual(limit);
});
