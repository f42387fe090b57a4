/** Copies a whole database into an empty one, on the same engine or the other, with constant memory. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { sql } from 'kysely';
import type { Database } from './database.js';
import type { Reader } from './engine.js';
import { refuseLeftTables } from './removed-modules.js';
import { countRows, hasRows } from './rows.js';
import type { Schema } from './schema.js';

type TableName = keyof Schema;

/** The target has rows. Copying into it would mix two databases. */
export class NotEmpty extends Error {
  override readonly name = 'NotEmpty';

  constructor(table: string) {
    super(`The target is not empty: ${table} has rows. Copy into a new database`);
  }
}

type Row = Readonly<Record<string, unknown>>;

/** Few enough for the parameters of one statement on either engine. */
const batchSize = 500;

/**
 * Copies all rows as they are at one moment.
 * @param onProgress called after each table and each 100 batches
 * @returns the number of rows of each table, counted in both databases
 * @throws NotEmpty
 * @throws Problem `invalid_state` if a removed module has left rows, which the copy would not have
 */
export async function copyDatabase(
  source: Database,
  target: Database,
  onProgress: (table: string, rows: number) => void,
) {
  await refuseLeftTables(source.reader);
  const inOrder = Object.keys(source.tables) as TableName[];
  for (const table of inOrder) {
    if (await hasRows(target.reader.selectFrom(table))) throw new NotEmpty(table);
  }
  // The source is read in one transaction, and the target, another database, is written outside of it.
  const outside = AsyncLocalStorage.snapshot();
  const counts = await source.snapshot(async (reader) => {
    // While the target writes, the source's transaction is idle, for as long as that takes.
    if (source.engine === 'postgres')
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(reader);
    const copied = new Map<TableName, number>();
    for (const table of inOrder) {
      let count = 0;
      for await (const rows of batchesOf(source, reader, table)) {
        await outside(() =>
          target.write((transaction) =>
            transaction
              .insertInto(table)
              .values(rows as never)
              .execute(),
          ),
        );
        count += rows.length;
        if (count % (100 * batchSize) === 0) onProgress(table, count);
      }
      copied.set(table, count);
      onProgress(table, count);
    }
    return copied;
  });
  if (target.engine === 'postgres') await raiseSequences(target);
  return Promise.all(
    inOrder.map(async (table) => ({
      table,
      source: counts.get(table) ?? 0,
      target: await countRows(target.reader.selectFrom(table)),
    })),
  );
}

/** The rows of a table, in batches. A cursor, or the row id, finds the next one without reading again. */
async function* batchesOf(source: Database, reader: Reader, table: TableName): AsyncGenerator<Row[]> {
  if (source.engine === 'postgres') {
    await sql`declare copying no scroll cursor for select * from ${sql.table(table)}`.execute(reader);
    for (;;) {
      const { rows } = await sql<Row>`fetch ${sql.lit(batchSize)} from copying`.execute(reader);
      if (rows.length === 0) break;
      yield rows;
    }
    await sql`close copying`.execute(reader);
    return;
  }
  let after = 0;
  for (;;) {
    const { rows } = await sql<Row & { copied_rowid: number }>`
      select rowid as copied_rowid, * from ${sql.table(table)} where rowid > ${after}
      order by rowid limit ${sql.lit(batchSize)}`.execute(reader);
    const last = rows.at(-1);
    if (!last) return;
    after = last.copied_rowid;
    yield rows.map(({ copied_rowid: _rowid, ...row }) => row);
  }
}

/** PostgreSQL numbers new rows from a sequence, which the copied ids have not moved. */
async function raiseSequences(target: Database): Promise<void> {
  await target.write(async (transaction) => {
    const { rows } = await sql<{ table: string; column: string }>`
      select table_name as "table", column_name as "column" from information_schema.columns
      where table_schema = current_schema() and column_default like 'nextval(%'`.execute(transaction);
    for (const { table, column } of rows) {
      await sql`
        select setval(pg_get_serial_sequence(${table}, ${column}), max(${sql.ref(column)}))
        from ${sql.table(table)} having max(${sql.ref(column)}) is not null`.execute(transaction);
    }
  });
}
