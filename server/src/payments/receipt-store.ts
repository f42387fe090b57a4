/** Stores receipts. */
import type { NetworkRef } from '../chains/chain.js';
import type { ReceiptTable } from '../db/schema.js';
import type { Transaction } from '../db/engine.js';
import { chunksOf } from '../db/chunks.js';
import { preparedSend } from '../db/prepared.js';

/** Whether a receipt is on its chain or pending, rather than dropped or reversed. */
export function isLive({ status }: Pick<ReceiptTable, 'status'>): boolean {
  return status === 'seen' || status === 'confirmed';
}

const insertRow = preparedSend((transaction, receipt: ReceiptTable) =>
  transaction.insertInto('receipts').values(receipt),
);

export function insertReceipt(transaction: Transaction, receipt: ReceiptTable): Promise<void> {
  return insertRow(transaction, receipt);
}

type ReceiptChange = Pick<
  ReceiptTable,
  'id' | 'status' | 'block_height' | 'block_hash' | 'confirmed_at' | 'reversals' | 'is_credited'
>;

const updateRow = preparedSend((transaction, { id, ...changes }: ReceiptChange) =>
  transaction.updateTable('receipts').set(changes).where('id', '=', id),
);

/** Stores the fields of a receipt that can change. */
export function updateReceipt(transaction: Transaction, receipt: ReceiptTable): Promise<void> {
  const { id, status, block_height, block_hash, confirmed_at, reversals, is_credited } = receipt;
  return updateRow(transaction, {
    id,
    status,
    block_height,
    block_hash,
    confirmed_at,
    reversals,
    is_credited,
  });
}

export interface ScanEffect extends NetworkRef {
  /** Blocks above this height were orphaned. */
  readonly orphanedAbove: number | undefined;
  /** Hashes of the transactions that the scan found. */
  readonly txHashes: readonly string[];
  /** Receipts in blocks up to this height have enough confirmations. */
  readonly confirmedUpTo: number;
  /** Whether the scan also read the pending transfers, and so can find receipts that are no longer pending. */
  readonly isAtTip: boolean;
}

/** The ids of the payments whose receipts a network scan may change. */
export async function affectedPayments(transaction: Transaction, effect: ScanEffect): Promise<string[]> {
  const { mode, network, orphanedAbove, txHashes, confirmedUpTo, isAtTip } = effect;
  const found = new Set<string>();
  const all = transaction
    .selectFrom('receipts')
    .select('payment_id')
    .distinct()
    .where('mode', '=', mode)
    .where('network', '=', network);
  const add = (rows: readonly { payment_id: string }[]) => {
    for (const { payment_id: id } of rows) found.add(id);
  };
  const seen = all.where('status', '=', 'seen');
  add(await seen.where('block_height', '<=', confirmedUpTo).execute());
  if (isAtTip) add(await seen.where('block_height', 'is', null).execute());
  if (orphanedAbove !== undefined) {
    const live = all.where('status', 'in', ['seen', 'confirmed']);
    add(await live.where('block_height', '>', orphanedAbove).execute());
  }
  for (const chunk of chunksOf(txHashes)) add(await all.where('tx_hash', 'in', chunk).execute());
  return [...found];
}
