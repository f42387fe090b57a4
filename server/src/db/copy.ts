/** Copies a whole database into an empty one, on the same engine or the other, with constant memory. */
import { sql } from 'kysely';
import type { Database } from './database.js';
import type { Reader } from './engine.js';
import { countRows, hasRows } from './rows.js';
import { tables, type Schema } from './schema.js';

type TableName = keyof Schema;

/** Each after those that it references. */
const inOrder = Object.keys(tables) as TableName[];

/** The target has rows. Copying into it would mix two databases. */
export class NotEmpty extends Error {
  override readonly name = 'NotEmpty';

  constructor(table: string) {
    super(`The target is not empty: ${table} has rows. Copy into a new database`);
  }
}

type Row = Readonly<Record<string, unknown>>;

const batchSize = 500;

/**
 * Copies all rows as they are at one moment.
 * @param onProgress called after each table and each 100 batches
 * @returns the number of rows of each table, counted in both databases
 * @throws NotEmpty
 */
export async function copyDatabase(
  source: Database,
  target: Database,
  onProgress: (table: string, rows: number) => void,
) {
  for (const table of inOrder) {
    if (await hasRows(target.reader.selectFrom(table))) throw new NotEmpty(table);
  }
  const batches = createChannel<{ readonly table: TableName; readonly rows: readonly Row[] }>();
  // The source is read in one transaction, and the target is written outside of it.
  const reading = source
    .snapshot(async (reader) => {
      const counts = new Map<TableName, number>();
      for (const table of inOrder) {
        let copied = 0;
        for await (const rows of batchesOf(source, reader, table)) {
          await batches.put({ table, rows });
          copied += rows.length;
          if (copied % (100 * batchSize) === 0) onProgress(table, copied);
        }
        counts.set(table, copied);
        onProgress(table, copied);
      }
      return counts;
    })
    .finally(() => batches.close());
  try {
    for await (const { table, rows } of batches) await insertRows(target, table, rows);
  } catch (error) {
    batches.close();
    await reading.catch(() => {});
    throw error;
  }
  const counts = await reading;
  if (target.engine === 'postgres') await raiseSequences(target);
  return Promise.all(
    inOrder.map(async (table) => ({
      table,
      source: counts.get(table) ?? 0,
      target: await countRows(target.reader.selectFrom(table)),
    })),
  );
}

/** The rows of a table, in batches. A cursor, or the row id, finds the next one without reading the former ones again. */
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

async function insertRows(target: Database, table: TableName, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  // Few enough for the parameters of one statement on either engine.
  const perStatement = Math.max(1, Math.floor(15_000 / Math.max(1, columns.length)));
  await target.write(async (transaction) => {
    for (let start = 0; start < rows.length; start += perStatement) {
      const values = rows.slice(start, start + perStatement);
      const tuples = values.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
      await sql`
        insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
        values ${sql.join(tuples)}`.execute(transaction);
    }
  });
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

/** Hands values from one async context to another, one at a time. */
function createChannel<T>() {
  let waiting: { readonly value: T; readonly taken: () => void } | undefined;
  let wake = () => {};
  let isClosed = false;
  return {
    /** Resolves when the value was taken; rejects if nobody takes any more. */
    async put(value: T): Promise<void> {
      if (isClosed) throw new Error('The copy was stopped');
      await new Promise<void>((resolve) => {
        waiting = { value, taken: resolve };
        wake();
      });
    },
    close(): void {
      isClosed = true;
      waiting?.taken();
      wake();
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<T> {
      for (;;) {
        if (waiting) {
          const { value, taken } = waiting;
          waiting = undefined;
          yield value;
          taken();
        } else if (isClosed) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
