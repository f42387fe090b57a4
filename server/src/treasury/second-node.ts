/** Has a second node confirm what a treasury has paid, where it is so much that the word of one node is not enough. */
import type { Worth } from '../chains/networks.js';
import { NodesUnavailable } from '../rpc/node-error.js';
import type { TransferTable, TreasuryPaymentTable } from '../db/schema.js';
import type { EvmConnected } from './forwarder-checks.js';
import type { TreasuryOwners } from './owners.js';
import { paymentRow } from './treasury-books.js';
import { createTreasuryReader, watchedFor } from './watch-reads.js';

/** Whether a sum, in units of its currency, counts only when two nodes agree. */
export type IsCrossChecked = (
  network: { readonly crossCheckAbove?: Worth },
  sum: { readonly units: bigint; readonly currency: string },
) => boolean;

/** Whether two nodes have the payment in its block, and none that has the block lacks it. */
export async function isToldByTwo(
  on: EvmConnected,
  owners: TreasuryOwners,
  pending: readonly TransferTable[],
  payment: TreasuryPaymentTable,
  signal: AbortSignal,
): Promise<boolean> {
  const { block_height: height, tx_hash: txHash, output_index: outputIndex } = payment;
  const watched = watchedFor(on, owners, pending);
  const reader = createTreasuryReader();
  const isSame = (row: TreasuryPaymentTable | undefined) =>
    row?.tx_hash === txHash &&
    row.output_index === outputIndex &&
    row.treasury === payment.treasury &&
    row.currency === payment.currency &&
    row.address === payment.address &&
    row.amount === payment.amount;
  try {
    const told = await on.evm.each(async (node) => {
      const { payments } = await reader.read(node, { from: height, to: height, tip: height }, watched);
      return payments.some((one) => isSame(paymentRow(on, one, undefined)));
    }, signal);
    return told.length >= 2 && told.every((isThere) => isThere);
  } catch (error) {
    // It waits, as a receipt does.
    if (error instanceof NodesUnavailable) return false;
    throw error;
  }
}
