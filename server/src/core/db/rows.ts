/** Selects, counts and writes rows as most stores do: by id, in a scope, and of one merchant or mode. */
import { sql, type Insertable, type SelectQueryBuilder } from 'kysely';
import type { Scope, Within } from '../shared/scope.js';
import { inChunks } from './chunks.js';
import type { Reader, Transaction } from './engine.js';
import type { Schema } from './schema.js';

type TableWith<Columns> = {
  [Table in keyof Schema]: Schema[Table] extends Columns ? Table : never;
}[keyof Schema];

/** The row with an id, of any merchant. */
export function rowById<Table extends TableWith<{ id: string }>>(reader: Reader, table: Table, id: string) {
  // Kysely does not know the columns of a table that is a type parameter, so it is typed as one that has an id.
  const row = reader
    .selectFrom(table as 'wallets')
    .selectAll()
    .where('id', '=', id);
  return row as unknown as SelectQueryBuilder<Schema, Table, Schema[Table]>;
}

/** The rows with these ids, in the order of the ids. */
export async function rowsInOrder<Table extends TableWith<{ id: string }>>(
  reader: Reader,
  table: Table,
  ids: readonly string[],
): Promise<Schema[Table][]> {
  const rows = await inChunks(ids, (chunk) =>
    reader
      .selectFrom(table as 'wallets')
      .selectAll()
      .where('id', 'in', chunk)
      .execute(),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []) as unknown as Schema[Table][];
}

/** For `$call`: keeps the rows of a scope. */
export const inScope = ({ merchantId, mode }: Scope) => within({ merchantId, mode });

/** For `$call`: keeps the rows of a merchant, of a mode, or of all. */
export function within({ merchantId, mode }: Within) {
  return <Table extends TableWith<Pick<Schema['wallets'], 'merchant_id' | 'mode'>>, Row>(
    query: SelectQueryBuilder<Schema, Table, Row>,
  ): SelectQueryBuilder<Schema, Table, Row> =>
    query
      .$if(merchantId !== undefined, (all) => all.where('merchant_id' as never, '=', merchantId as never))
      .$if(mode !== undefined, (all) => all.where('mode' as never, '=', mode as never));
}

/** For `$call`: keeps the rows that have these values. Undefined ones do not matter. */
export function having<Table extends keyof Schema>(values: {
  readonly [Column in keyof Schema[Table]]?: Schema[Table][Column] | undefined;
}) {
  return <Row>(query: SelectQueryBuilder<Schema, Table, Row>): SelectQueryBuilder<Schema, Table, Row> =>
    Object.entries(values).reduce(
      (rows, [column, value]) =>
        value === undefined ? rows : rows.where(column as never, '=', value as never),
      query,
    );
}

/** The number of rows that a query has. */
export async function countRows<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
): Promise<number> {
  const { count } = await query
    .clearSelect()
    .select(sql`count(*)`.as('count'))
    .$castTo<{ readonly count: number }>()
    .executeTakeFirstOrThrow();
  return count;
}

/** True if a query has any rows. */
export async function hasRows<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
): Promise<boolean> {
  const any = query.clearSelect().select(sql`1`.as('any'));
  return (await any.limit(1).executeTakeFirst()) !== undefined;
}

/** For stores: `const insertPerson = insertRow('people')`. */
export const insertRow =
  <Table extends keyof Schema>(table: Table) =>
  async (transaction: Transaction, row: Insertable<Schema[Table]>): Promise<void> => {
    await transaction.insertInto(table).values(row).execute();
  };

/** Changes the row with an id; an undefined column stays as it is. */
export const updateRow =
  <Table extends TableWith<{ id: string }>>(table: Table) =>
  async (
    transaction: Transaction,
    id: string,
    changes: { readonly [Column in keyof Schema[Table]]?: Schema[Table][Column] | undefined },
  ): Promise<void> => {
    await transaction
      .updateTable(table as 'wallets')
      .set(changes as Partial<Schema['wallets']>)
      .where('id', '=', id)
      .execute();
  };
