/**
 * What a contract pays may depend on the block. The receipt of what it paid in a former block is lost with that block, and what it
 * pays now is another receipt, although both have the same place in the same transaction.
 */
import type { ChainTransfer, NetworkRef } from '../../chains/chain.js';
import { transferKey } from '../../scanning/scan.js';
import type { Transaction } from '../../db/engine.js';
import type { ReceiptTable } from '../../db/schema.js';
import { nameTransfer } from './receipt-store.js';
import type { Scan, Work } from './work.js';

/** Gives such receipts a place of their own. @returns them */
export async function retireChanged(transaction: Transaction, scan: Scan, works: ReadonlyMap<string, Work>) {
  const retired: ReceiptTable[] = [];
  for (const [key, { transfer }] of scan.incoming) {
    for (const work of works.values()) {
      const receipt = work.receipts.get(key);
      if (!receipt || isReceiptOf(receipt, transfer)) continue;
      const gone = {
        ...receipt,
        ...{ block_height: null, block_hash: null, confirmed_at: null },
        output_index: await freeIndex(transaction, scan, receipt.tx_hash),
      };
      await nameTransfer(transaction, gone);
      const formerKey = transferKey(gone.tx_hash, gone.output_index);
      work.receipts.delete(key);
      work.receipts.set(formerKey, gone);
      work.replaced.add(formerKey);
      work.hasNews = true;
      retired.push(gone);
    }
  }
  return retired;
}

function isReceiptOf(
  { address, currency, chain_amount: units }: ReceiptTable,
  { amount, chainAmount = amount, ...transfer }: ChainTransfer,
): boolean {
  return address === transfer.address && currency === transfer.currency && units === chainAmount.toString();
}

/** Below those of the chain. */
async function freeIndex(transaction: Transaction, { mode, network }: NetworkRef, txHash: string) {
  const { lowest } = await transaction
    .selectFrom('receipts')
    .select(({ fn }) => fn.min('output_index').as('lowest'))
    .where((e) => e.and({ mode, network, tx_hash: txHash }))
    .executeTakeFirstOrThrow();
  return Math.min(0, lowest) - 1;
}
