/** The size of the database, and the used part of its disk. */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import type { Database } from './database.js';

export interface DatabaseSize {
  readonly bytes: number;
  /** From 0 to 1. Undefined for PostgreSQL, whose disk is not this machine's. */
  readonly diskUsed?: number;
}

export async function readSize({ engine, reader }: Database): Promise<DatabaseSize> {
  if (engine === 'postgres') {
    const { rows } = await sql<{ bytes: string }>`
      select pg_database_size(current_database()) as bytes`.execute(reader);
    return { bytes: Number(rows[0]?.bytes) };
  }
  const { rows } = await sql<{ bytes: number; file: string }>`
    select page_count * page_size as bytes, file
    from pragma_page_count, pragma_page_size, pragma_database_list where name = 'main'`.execute(reader);
  const { bytes = 0, file = '' } = rows[0] ?? {};
  // A database in memory has no file.
  if (file === '') return { bytes };
  const { blocks, bavail } = await statfs(dirname(file));
  return { bytes, diskUsed: 1 - bavail / blocks };
}
