/** Reads and writes merchant accounts. */
import { prepared } from '../db/prepared.js';
import type { MerchantTable } from '../db/schema.js';
import type { Transaction, Reader } from '../db/engine.js';

export type MerchantRow = MerchantTable;

const findById = prepared((reader, { id }: { readonly id: string }) =>
  reader.selectFrom('merchants').selectAll().where('id', '=', id),
);

export async function findMerchant(reader: Reader, id: string): Promise<MerchantRow | undefined> {
  const [row] = await findById(reader, { id });
  return row;
}

/** Oldest first. */
export function listMerchants(reader: Reader): Promise<MerchantRow[]> {
  return reader.selectFrom('merchants').selectAll().orderBy('created_at').orderBy('id').execute();
}

export async function insertMerchant(transaction: Transaction, row: MerchantRow): Promise<void> {
  await transaction.insertInto('merchants').values(row).execute();
}

export function updateMerchant(
  transaction: Transaction,
  id: string,
  change: Partial<Omit<MerchantRow, 'id'>>,
): Promise<MerchantRow | undefined> {
  return transaction
    .updateTable('merchants')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}
