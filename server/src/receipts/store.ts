/** What is kept of receipts. */
import type { Transaction } from '../db/database.js';
import type { ReceiptTable } from '../db/schema.js';

export async function insertReceipt(transaction: Transaction, receipt: ReceiptTable): Promise<void> {
  await transaction.insertInto('receipts').values(receipt).execute();
}

/** Writes what may change of a receipt. */
export async function updateReceipt(transaction: Transaction, receipt: ReceiptTable): Promise<void> {
  const { status, block_height, block_hash, confirmed_at, reversals, is_credited } = receipt;
  await transaction
    .updateTable('receipts')
    .set({ status, block_height, block_hash, confirmed_at, reversals, is_credited })
    .where('id', '=', receipt.id)
    .execute();
}

export interface ScanEffect {
  /** Blocks above it are gone. */
  readonly orphanedAbove: number | undefined;
  /** Transactions that the scan found. */
  readonly txHashes: readonly string[];
  /** Receipts in blocks up to this height have their confirmations. */
  readonly confirmedUpTo: number;
  /** Whether what waits for a block was read, so that what waits no more is known. */
  readonly isAtTip: boolean;
}

/** The receipts of a network that a scan may change. */
export async function affectedReceipts(
  transaction: Transaction,
  network: string,
  { orphanedAbove, txHashes, confirmedUpTo, isAtTip }: ScanEffect,
): Promise<ReceiptTable[]> {
  const found = new Map<string, ReceiptTable>();
  const all = transaction.selectFrom('receipts').selectAll().where('network', '=', network);
  const add = (rows: readonly ReceiptTable[]) => {
    for (const row of rows) found.set(row.id, row);
  };
  const seen = all.where('status', '=', 'seen');
  add(await seen.where('block_height', '<=', confirmedUpTo).execute());
  if (isAtTip) add(await seen.where('block_height', 'is', null).execute());
  if (orphanedAbove !== undefined) {
    add(
      await all
        .where('status', 'in', ['seen', 'confirmed'])
        .where('block_height', '>', orphanedAbove)
        .execute(),
    );
  }
  for (let start = 0; start < txHashes.length; start += 500) {
    add(await all.where('tx_hash', 'in', txHashes.slice(start, start + 500)).execute());
  }
  return [...found.values()];
}

/** The receipts with what others than the scan may have changed of them: whether they are credited. */
export async function readCredited(
  transaction: Transaction,
  receipts: readonly ReceiptTable[],
): Promise<ReceiptTable[]> {
  const waiting = receipts.filter((receipt) => receipt.status === 'confirmed' && receipt.is_credited === 0);
  const credited = new Set<string>();
  for (let start = 0; start < waiting.length; start += 500) {
    const ids = waiting.slice(start, start + 500).map((receipt) => receipt.id);
    const rows = await transaction
      .selectFrom('receipts')
      .select('id')
      .where('id', 'in', ids)
      .where('is_credited', '=', 1)
      .execute();
    for (const { id } of rows) credited.add(id);
  }
  return receipts.map((receipt) => (credited.has(receipt.id) ? { ...receipt, is_credited: 1 } : receipt));
}
