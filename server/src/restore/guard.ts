/**
 * Stops what cannot be undone while the database may be older than what was done with it: addresses given out in live mode, and
 * payouts. Incoming payments go on being credited.
 */
import type { Reader, Transaction } from '../db/engine.js';
import { afterCommit } from '../db/transaction-context.js';
import { Problem } from '../shared/problem.js';
import type { Mode } from '../shared/scope.js';
import type { Marker } from './marker.js';
import * as store from './restore-store.js';

export type RestoreGuard = ReturnType<typeof createRestoreGuard>;

export function createRestoreGuard(marker: Marker) {
  const refuse = (): never => {
    throw new Problem(
      'service_unavailable',
      'The database may have been restored from an older backup. Until the operator has confirmed that, no address is given out and nothing is paid: see "restore status"',
      { retryAfterSeconds: 60 },
    );
  };

  /**
   * Problem: `service_unavailable` in live mode while a restore is suspected.
   * @returns how many restores were confirmed; what was reserved before the last of them must not be used any more
   */
  async function ensureTrusted(reader: Reader, mode: Mode): Promise<number> {
    if (mode !== 'live') return 0;
    const { isSuspected, epoch } = await store.readState(reader);
    return isSuspected ? refuse() : epoch;
  }

  function advance(transaction: Transaction, name: string, from: number, to: number): void {
    // All that the marker has was committed before, so what is counted now begins there or later. Servers may share the file.
    if (from < (marker.read().get(name) ?? 0)) refuse();
    afterCommit(transaction, () => marker.raise(name, to));
  }

  return {
    ensureTrusted,
    /** To be called in the transaction that exports, signs or stores a payout. Same problem. */
    async startPayout(transaction: Transaction, mode: Mode): Promise<void> {
      if (mode !== 'live') return;
      await ensureTrusted(transaction, mode);
      const count = await store.addPayouts(transaction, 1);
      advance(transaction, store.payouts, count - 1, count);
    },
    /**
     * To be called in the transaction that reserves indexes of a source. Same problem.
     * @param next the first one after them
     */
    reserve(transaction: Transaction, mode: Mode, sourceId: string, first: number, next: number): void {
      if (mode === 'live') advance(transaction, sourceId, first, next);
    },
  };
}
