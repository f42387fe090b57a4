/** What the proof of a settlement reads of transfers. */
import type { Reader, Transaction } from '../db/engine.js';
import { forUpdate } from '../db/locks.js';
import { sumUnits } from '../db/units.js';
import type { TransferTable } from '../db/schema.js';

/**
 * What other transfers to the same address were settled with a transaction, in units.
 * @param hash without 0x
 */
export async function sumSettledBy(
  reader: Reader,
  { id, mode, network, currency, address }: TransferTable,
  hash: string,
): Promise<bigint> {
  const rows = await reader
    .selectFrom('transfers')
    .select('amount')
    .where((e) => e.and({ mode, network, currency, address, status: 'success' }))
    .where('tx_hash', 'in', [hash, `0x${hash}`])
    .where('id', '<>', id)
    .execute();
  return rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

/** What other transfers that a transaction has paid bear of its fee, in units. @param hash without 0x */
export async function sumFeesOf(
  reader: Reader,
  { id, mode, network, currency }: TransferTable,
  hash: string,
): Promise<bigint> {
  const { fees } = await reader
    .selectFrom('transfers')
    .select(sumUnits(reader, 'network_fee').as('fees'))
    .where((e) => e.and({ mode, network, currency, status: 'success' }))
    .where('tx_hash', 'in', [hash, `0x${hash}`])
    .where('id', '<>', id)
    .executeTakeFirstOrThrow();
  return BigInt(fees);
}

/**
 * Locks all transfers that a transaction has settled or could settle, until the database's transaction ends: they share what it
 * paid to an address, and its fee. In one order, so that none deadlocks.
 * @param hash without 0x
 */
export async function lockTransfersOf(
  transaction: Transaction,
  { mode, network, currency }: TransferTable,
  hash: string,
): Promise<void> {
  await transaction
    .selectFrom('transfers')
    .select('id')
    .where((e) => e.and({ mode, network, currency }))
    .where((e) =>
      e.or([e('status', 'in', ['pending', 'processing']), e('tx_hash', 'in', [hash, `0x${hash}`])]),
    )
    .orderBy('id')
    .$call(forUpdate(transaction))
    .execute();
}
