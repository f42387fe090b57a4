/** Receipts that gave way: to the transfer that explains them, or to a contract's payment in another block. */
import type { ChainTransfer, NetworkRef } from '../../chains/chain.js';
import type { ReceiptRow } from '../../db/schema.js';
import type { Transaction } from '../../db/engine.js';
import { transferKey } from '../../scanning/scan.js';
import { keptSenders } from './make-receipt.js';
import type { IncomingTransfer } from './new-receipts.js';
import { isLive, nameTransfer } from './receipt-store.js';
import type { Scan, Work } from './work.js';

/**
 * Lets a transfer that was found later, for example by a rescan, replace the receipts that only the balance showed and
 * that it explains: it is the same money, and must not be credited twice. If the amounts are the same, the receipt
 * gets the transfer's name. Otherwise it gives way to the transfer: the rest shows in the balance again.
 */
export async function replaceByBalance(
  transaction: Transaction,
  { incoming }: Scan,
  works: ReadonlyMap<string, Work>,
): Promise<void> {
  const all = [...works.values()];
  // Few receipts, if any: to look through all of them for each transfer would take the square of their number.
  const shownByBalance = all.flatMap((work) => {
    const keys = [...work.receipts.keys()].filter((key) => work.receipts.get(key)?.found_above !== null);
    return keys.length > 0 ? [{ work, keys }] : [];
  });
  if (shownByBalance.length === 0) return;
  for (const [key, found] of incoming) {
    if (found.transfer.foundAbove !== undefined || !found.block) continue;
    const known = all.map(({ receipts }) => receipts.get(key)).find((receipt) => receipt !== undefined);
    if (known && isLive(known) && known.block_height !== null) continue;
    for (const { work, keys } of shownByBalance) {
      const replacedKey = keys.find((one) => isSameMoney(work.receipts.get(one), found));
      const receipt = work.receipts.get(replacedKey ?? '');
      if (replacedKey === undefined || !receipt) continue;
      work.hasNews = true;
      const { amount, chainAmount = amount } = found.transfer;
      if (!known && receipt.chain_amount === chainAmount) {
        const named = await rename(transaction, receipt, found);
        work.receipts.delete(replacedKey);
        work.receipts.set(key, named);
        work.stored.set(named.id, named);
        work.isUncounted = true;
        break;
      }
      const gone = { ...receipt, block_height: null, block_hash: null, confirmed_at: null };
      work.receipts.set(replacedKey, gone);
      work.replaced.add(replacedKey);
    }
  }
}

function isSameMoney(receipt: ReceiptRow | undefined, { transfer, block }: IncomingTransfer): boolean {
  if (!receipt) return false;
  const { found_above: above, block_height: upTo } = receipt;
  return (
    isLive(receipt) &&
    receipt.address === transfer.address &&
    receipt.currency === transfer.currency &&
    block !== undefined &&
    above !== null &&
    upTo !== null &&
    above < block.height &&
    block.height <= upTo
  );
}

async function rename(
  transaction: Transaction,
  receipt: ReceiptRow,
  { transfer, block }: IncomingTransfer,
): Promise<ReceiptRow> {
  const named: ReceiptRow = {
    ...receipt,
    tx_hash: transfer.txHash,
    output_index: transfer.outputIndex,
    senders: keptSenders(transfer),
    block_height: block?.height ?? null,
    block_hash: block?.hash ?? null,
    found_above: null,
  };
  await nameTransfer(transaction, named);
  return named;
}

/**
 * A contract may pay something different in each block. The receipt of its payment in an earlier block is lost with
 * that block, and its payment now is another receipt, although both have the same place in the same transaction: the
 * earlier one gets another.
 */
export async function retireChanged(
  transaction: Transaction,
  scan: Scan,
  works: ReadonlyMap<string, Work>,
): Promise<void> {
  const owners = new Map(
    [...works.values()].flatMap((work) => [...work.receipts.keys()].map((key) => [key, work] as const)),
  );
  for (const [key, { transfer }] of scan.incoming) {
    const work = owners.get(key);
    const receipt = work?.receipts.get(key);
    if (!work || !receipt || isReceiptOf(receipt, transfer)) continue;
    const gone = {
      ...receipt,
      block_height: null,
      block_hash: null,
      confirmed_at: null,
      output_index: await freeIndex(transaction, scan, receipt.tx_hash),
    };
    await nameTransfer(transaction, gone);
    const replacedKey = transferKey(gone.tx_hash, gone.output_index);
    work.receipts.delete(key);
    work.receipts.set(replacedKey, gone);
    work.replaced.add(replacedKey);
    work.hasNews = true;
    work.isUncounted = true;
  }
}

function isReceiptOf(
  { address, currency, chain_amount: units }: ReceiptRow,
  { amount, chainAmount = amount, ...transfer }: ChainTransfer,
): boolean {
  return address === transfer.address && currency === transfer.currency && units === chainAmount;
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
