/** Reads and writes merchant accounts. */
import { prepared } from '../db/prepared.js';
import { insertRow, updateRow } from '../db/rows.js';
import type { MerchantTable } from '../db/schema.js';
import type { Reader } from '../db/engine.js';

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

export const updateMerchant = updateRow('merchants');
