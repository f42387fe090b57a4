/** Merchant accounts as they are kept. */
import type { Reader, Transaction } from '../db/database.js';
import type { MerchantTable } from '../db/schema.js';

export type MerchantRow = MerchantTable;

export function findMerchant(reader: Reader, id: string): Promise<MerchantRow | undefined> {
  return reader.selectFrom('merchants').selectAll().where('id', '=', id).executeTakeFirst();
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
