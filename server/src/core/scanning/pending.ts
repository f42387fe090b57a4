/** Compares the pending transfers of two scans in a row. With a flood of them, this is most of the work of a scan. */
import type { ChainTransfer, TransferId } from '../chains/chain.js';
import { keyOf, type PendingTransfers } from './scan.js';

/** @param previous the pending transfers of the previous scan, if they are known, and those that were kept for it */
export function comparePending(
  transfers: readonly ChainTransfer[],
  previous: readonly TransferId[] | undefined,
): PendingTransfers {
  let same = 0;
  // A chain returns the transfers it knows already as the same objects, in the same order.
  while (same < transfers.length && transfers[same] === previous?.[same]) same += 1;
  const rest = previous ? transfers.slice(same) : transfers;
  const appeared = previous ? without(rest, previous.slice(same)) : transfers;
  const appearedKeys = new Set(appeared.map(keyOf));
  let keys: ReadonlySet<string> | undefined;
  const has = (key: string) => {
    if (appearedKeys.has(key)) return true;
    keys ??= new Set(transfers.map(keyOf));
    return keys.has(key);
  };
  return { transfers, appeared, gone: previous && without(previous.slice(same), rest), has };
}

/** The same with transfers that count as pending although the chain did not return them. */
export function withKept(pending: PendingTransfers, kept: readonly TransferId[]): PendingTransfers {
  if (kept.length === 0) return pending;
  const keys = new Set(kept.map(keyOf));
  return {
    ...pending,
    kept,
    gone: pending.gone?.filter((transfer) => !keys.has(keyOf(transfer))),
    has: (key) => keys.has(key) || pending.has(key),
  };
}

function without<T extends TransferId>(transfers: readonly T[], others: readonly TransferId[]): T[] {
  if (transfers.length === 0) return [];
  const keys = new Set(others.map(keyOf));
  return transfers.filter((transfer) => !keys.has(keyOf(transfer)));
}
