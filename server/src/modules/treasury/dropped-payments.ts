/**
 * Reverts payments of treasuries in blocks that were dropped after they had been final. The transfer waits again, and
 * stays reserved: its transaction may get into a block once more, until the nonce is used up. A payment that settled
 * no transfer is forgotten.
 */
import { readCursor as readScan, readScannedBlocks } from '../../core/scanning/cursors.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import { placeOf, type EvmConnected, type TreasuryContext } from './context.js';
import { findExportOf } from './export-store.js';
import { hold } from './payout-exports.js';
import { readHead } from './seen-payments.js';
import { bookGas, takeBackGas } from './treasury-books.js';
import { gasPaidBy } from './watch-reads.js';
import * as store from './watch-store.js';
import type { TreasuryPaymentRow } from './tables.js';

/** @param from the first block that is looked at again */
export async function takeBackDropped(
  deps: TreasuryContext,
  on: EvmConnected,
  from: number,
  signal: AbortSignal,
): Promise<void> {
  const { reader } = deps.database;
  const place = placeOf(on);
  const paid = await store.paymentsFrom(reader, place, from);
  if (paid.length === 0) return;
  const scan = await readScan(reader, place);
  const scanned = new Map((await readScannedBlocks(reader, place)).map(({ height, hash }) => [height, hash]));
  for (const payment of paid) {
    const now = scanned.get(payment.block_height);
    if (!scan || now === undefined || now === payment.block_hash) continue;
    const found = await findAgain(on, payment.tx_hash, scan.height, signal);
    if (found.length === 0) await takeBack(deps, place, payment);
    const [moved] = found.filter(({ height, blockHash }) => scanned.get(height) === blockHash);
    if (!moved) continue;
    const gas = gasPaidBy(on, moved.fee, [payment.treasury.toLowerCase()]);
    await deps.database.write(async (transaction) => {
      const changes = { block_height: moved.height, block_hash: moved.blockHash, gas };
      await store.updatePayment(transaction, payment, changes);
      // Its cost depends on the block.
      if (gas === payment.gas) return;
      const previous = await takeBackGas(deps, transaction, place, payment.tx_hash);
      if (previous) await bookGas(deps, transaction, on, payment.tx_hash, previous.merchant_id, gas);
    });
  }
}

/**
 * The transaction's place on any node that has the newest block: it is gone if all of them lack it. @throws
 * NodesUnavailable
 */
async function findAgain(on: EvmConnected, txHash: string, height: number, signal: AbortSignal) {
  const answers = await on.evm.each(async (node) => {
    await readHead(node, height);
    return (await node.receipts([txHash]))[0];
  }, signal);
  return answers.flatMap((receipt) => (receipt?.isSuccess === true ? receipt : []));
}

async function takeBack(
  deps: TreasuryContext,
  place: NetworkRef,
  payment: TreasuryPaymentRow,
): Promise<void> {
  const { transfer_id: id, tx_hash: txHash, block_height: height } = payment;
  const taken = await deps.database.write(async (transaction) => {
    const cursor = await store.lockCursor(transaction, place);
    if (!(await store.deletePayment(transaction, payment))) return undefined;
    const transfer = id === null ? undefined : await deps.transfers.unsettle(transaction, id, txHash);
    if (transfer?.status === 'pending') {
      if (!(await findExportOf(transaction, transfer.id)))
        await hold(deps, transaction, [transfer], 'treasury watcher');
      // A payment that was one too many may have paid it.
      await store.mayBeFor(transaction, transfer);
    }
    await takeBackGas(deps, transaction, place, txHash);
    // The blocks that have come instead are read once more, now that the transfer waits.
    await store.moveCursor(transaction, place, Math.min(cursor, height - 1));
    return transfer;
  });
  if (!taken) return;
  deps.log.error(
    { ...place, transfer: id, txHash },
    taken.status === 'failed'
      ? 'The network has dropped the block in which the treasury paid a transfer once more. That payment is gone, and was given back'
      : 'The network has dropped the block in which the treasury paid a transfer. It waits again and stays reserved: if the wallet sent something else with the nonce, use "transfers release"',
  );
}
