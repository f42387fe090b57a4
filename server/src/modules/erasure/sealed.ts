/** Personal data in the rows of any table, as the declarations of the tables say: db/data-policy.ts. */
import { sql } from 'kysely';
import type { Personal } from '../../core/db/data-policy.js';
import type { Transaction } from '../../core/db/engine.js';
import type { PersonalData } from '../../core/db/personal-data.js';
import type { Table, Tables } from '../../core/db/table.js';

export type Cells = Readonly<Record<string, unknown>>;

export interface PersonalTable {
  readonly name: string;
  readonly table: Table;
  readonly personal: Personal;
  /** The columns that tell its rows apart. */
  readonly key: readonly string[];
}

export const personalTables = (tables: Tables): readonly PersonalTable[] =>
  Object.entries(tables).flatMap(([name, table]) => {
    const { personal } = table.facts.data;
    return personal ? [{ name, table, personal, key: personal.key ?? table.key }] : [];
  });

/** @returns the columns to change, sealed @param change returns undefined for those that stay */
export function changeSealed(
  { sealText, openText }: PersonalData,
  { name, personal }: PersonalTable,
  row: Cells,
  change: (text: string, how: Personal['columns'][string], column: string) => string | undefined,
): Cells {
  const owner = (personal.boundTo ?? ['id']).map((column) => String(row[column])).join('/');
  const changed: Record<string, string> = {};
  for (const [column, how] of Object.entries(personal.columns)) {
    const stored = row[column];
    if (typeof stored !== 'string') continue;
    const place = `${name}.${column} of ${owner}`;
    const text = change(openText(stored, place), how, column);
    if (text !== undefined) changed[column] = sealText(text, place);
  }
  return changed;
}

/** @param as the columns that the row must still have */
export async function updateCells(
  transaction: Transaction,
  table: string,
  set: Cells,
  as: Cells,
): Promise<void> {
  if (Object.keys(set).length === 0) return;
  const changes = Object.entries(set).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  const same = Object.entries(as).map(([column, value]) =>
    // PostgreSQL cannot infer the type of a null that is compared.
    value === null ? sql`${sql.ref(column)} is null` : sql`${sql.ref(column)} = ${value}`,
  );
  await sql`
    update ${sql.table(table)} set ${sql.join(changes)} where ${sql.join(same, sql` and `)}
  `.execute(transaction);
}

export const pick = (row: Cells, columns: readonly string[]): Cells =>
  Object.fromEntries(columns.map((column) => [column, row[column]]));
