/** Money that was credited and pays nothing of its payment: it is reported as soon as it is credited. */
import type { PaymentState } from 'crypto-checkout/contract';
import type { ReceiptRow } from '../db/schema.js';
import { unacceptedReason, unacceptedSums, type AssetSum, type PaymentFacts } from './assess.js';

/** The sum of an asset that has just come, and its total so far. */
export interface NewlyUnaccepted extends AssetSum {
  readonly total: bigint;
}

/**
 * Grouped by asset, so that a transaction with many outputs is reported once.
 * @param credited the sums credited just now
 * @param isDust a sum that is reported only once it has become more than dust
 */
export function newlyUnaccepted(
  facts: PaymentFacts,
  state: PaymentState,
  credited: readonly ReceiptRow[],
  isDust: (sum: Pick<AssetSum, 'currency' | 'network' | 'amount'>) => boolean,
): readonly NewlyUnaccepted[] {
  return unacceptedSums(facts, state).flatMap((sum) => {
    const { currency, network, amount: total } = sum;
    const amount = credited
      .filter(
        (receipt) =>
          receipt.currency === currency &&
          receipt.network === network &&
          unacceptedReason(facts, state, { ...sum, firstSeenAt: receipt.first_seen_at }) !== undefined,
      )
      .reduce((all, receipt) => all + receipt.amount, 0n);
    if (amount === 0n || isDust({ ...sum, amount: total })) return [];
    const wasDust = isDust({ ...sum, amount: total - amount });
    return wasDust || !isDust({ ...sum, amount }) ? [{ ...sum, amount, total }] : [];
  });
}
