/** Selects rows as most stores do: by id, in a scope, and of one merchant or mode. */
import type { Insertable, SelectQueryBuilder } from 'kysely';
import type { Scope, Within } from '../shared/scope.js';
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

/** For stores: `const insertPerson = insertRow('people')`. */
export const insertRow =
  <Table extends keyof Schema>(table: Table) =>
  async (transaction: Transaction, row: Insertable<Schema[Table]>): Promise<void> => {
    await transaction.insertInto(table).values(row).execute();
  };

/** Changes the row with an id; what is undefined stays as it is. */
export const updateRow =
  <Table extends TableWith<{ id: string }>>(table: Table) =>
  async (transaction: Transaction, id: string, changes: Partial<Schema[Table]>): Promise<void> => {
    await transaction
      .updateTable(table as 'wallets')
      .set(changes as Partial<Schema['wallets']>)
      .where('id', '=', id)
      .execute();
  };
