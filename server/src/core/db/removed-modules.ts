/**
 * Modules that the server no longer has, or has again. The rows of their tables stay, and whatever must cover all rows asks here for
 * them.
 */
import { sql, type RawBuilder, type TableMetadata } from 'kysely';
import { invalidState } from '../shared/problem.js';
import { strings } from './codecs.js';
import { engineOf, type Reader, type Transaction } from './engine.js';
import { leftTablesOf, type LeftTable } from './query-parts.js';
import { jsonSetting } from './settings.js';
import type { Tables } from './table.js';

/** A table with one of these is a module's. Other programs may have tables in the same database. */
const ownColumns: readonly string[] = ['merchant_id', 'transfer_id'];

/** @param found all tables of a database @param known those that the server has */
export async function leftAmong(
  reader: Reader,
  found: readonly TableMetadata[],
  known: Tables,
): Promise<readonly LeftTable[]> {
  const left = found
    .filter(({ name, isView }) => !isView && !(name in known))
    // Ids and modes are texts.
    .map(({ name, schema, columns }) => ({
      name,
      schema,
      columns: columns.filter((one) => one.dataType.toLowerCase() === 'text').map((one) => one.name),
    }))
    .filter(({ columns }) => columns.some((name) => ownColumns.includes(name)));
  if (left.length === 0 || engineOf(reader) === 'sqlite') return left;
  const { rows } = await sql<{ own: string }>`select current_schema() as own`.execute(reader);
  return left.filter(({ schema }) => schema === rows[0]?.own);
}

/** Some of a column's values, or a query for them, by its name. */
type Values = Readonly<Record<string, readonly string[] | RawBuilder<unknown>>>;

const listed = (some: Values[string]) => ('execute' in some ? some : sql.join(some));

/** The names of those that have rows with these values; a table without one of the columns has none. */
export async function findLeftTables(reader: Reader, values: Values = {}): Promise<string[]> {
  const wanted = Object.entries(values);
  const found: string[] = [];
  for (const { name, columns } of leftTablesOf(reader)) {
    if (!wanted.every(([column]) => columns.includes(column))) continue;
    const conditions = wanted.map(([column, some]) => sql`${sql.ref(column)} in (${listed(some)})`);
    const all = sql.join([sql`1 = 1`, ...conditions], sql` and `);
    const { rows } = await sql`select 1 from ${sql.table(name)} where ${all} limit 1`.execute(reader);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

/**
 * Problem: `invalid_state` if any of them have rows with these values.
 * @param except a table that does not matter
 */
export async function refuseLeftTables(reader: Reader, values?: Values, except?: string): Promise<void> {
  const found = (await findLeftTables(reader, values)).filter((name) => name !== except);
  if (found.length > 0) {
    throw invalidState(
      `The database has records that this server does not know (${found.join(', ')}): add the modules that it had, or start the newer release`,
    );
  }
}

const lastModules = jsonSetting('modules', strings);

/** Notes the modules of the server that runs. */
export const noteModules = (transaction: Transaction, names: readonly string[]): Promise<void> =>
  lastModules.write(transaction, names);

/** True if the last server ran without the module, which then catches up. */
export const wasAway = async (reader: Reader, name: string): Promise<boolean> =>
  (await lastModules.read(reader))?.includes(name) === false;
