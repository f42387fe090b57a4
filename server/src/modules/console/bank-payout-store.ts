/** Reads and writes which bank payouts a shop's people recorded. */
import { inChunks } from '../../core/db/chunks.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { insertRow, updateRow } from '../../core/db/rows.js';

export const insertOwn = insertRow('own_bank_payouts');
const updateStored = updateRow('own_bank_payouts');

/** @returns the bank's references, by payout */
export async function findOwn(
  reader: Reader,
  payoutIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await inChunks(payoutIds, (chunk) =>
    reader.selectFrom('own_bank_payouts').select(['id', 'bank_reference']).where('id', 'in', chunk).execute(),
  );
  return new Map(rows.map((row) => [row.id, row.bank_reference]));
}

export const setBankReference = (transaction: Transaction, id: string, bank_reference: string) =>
  updateStored(transaction, id, { bank_reference });
