/** Reads and writes merchant accounts. */
import type { UpdateObject } from 'kysely';
import { prepared } from '../db/prepared.js';
import { insertRow } from '../db/rows.js';
import type { MerchantTable, Schema } from '../db/schema.js';
import type { Transaction, Reader } from '../db/engine.js';

const findById = prepared((reader, { id }: { readonly id: string }) =>
  reader.selectFrom('merchants').selectAll().where('id', '=', id),
);

export async function findMerchant(reader: Reader, id: string): Promise<MerchantTable | undefined> {
  const [row] = await findById(reader, { id });
  return row;
}

/** Oldest first. */
export function listMerchants(reader: Reader): Promise<MerchantTable[]> {
  return reader.selectFrom('merchants').selectAll().orderBy('created_at').orderBy('id').execute();
}

export const insertMerchant = insertRow('merchants');

/** @param change what is undefined stays as it is */
export function updateMerchant(
  transaction: Transaction,
  id: string,
  change: UpdateObject<Schema, 'merchants'>,
): Promise<MerchantTable | undefined> {
  return transaction
    .updateTable('merchants')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}
