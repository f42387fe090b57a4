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

export interface RestoreGuard {
  /**
   * Problem: `service_unavailable` in live mode while a restore is suspected.
   * @returns how many restores were confirmed; what was reserved before the last of them must not be used any more
   */
  ensureTrusted(reader: Reader, mode: Mode): Promise<number>;
  /** To be called in the transaction that exports, signs or stores a payout. Same problem. */
  startPayout(transaction: Transaction, mode: Mode): Promise<void>;
  /**
   * To be called in the transaction that reserves indexes of a source. Same problem.
   * @param first the first of them
   * @param next the first one after them
   */
  reserve(mode: Mode, sourceId: string, first: number, next: number): void;
}

export function createRestoreGuard(marker: Marker): RestoreGuard {
  const refuse = (): never => {
    throw new Problem(
      'service_unavailable',
      'The database may have been restored from an older backup. Until the operator has confirmed that, no address is given out and nothing is paid: see "restore status"',
      { retryAfterSeconds: 60 },
    );
  };

  async function ensureTrusted(reader: Reader, mode: Mode): Promise<number> {
    if (mode !== 'live') return 0;
    const { isSuspected, epoch } = await store.readState(reader);
    return isSuspected ? refuse() : epoch;
  }

  function advance(name: string, from: number, to: number): void {
    // All that the marker has was committed before, so what is counted now begins there or later. Servers may share the file.
    if (from < (marker.read().get(name) ?? 0)) refuse();
    afterCommit(() => marker.raise(name, to));
  }

  return {
    ensureTrusted,
    async startPayout(transaction, mode) {
      if (mode !== 'live') return;
      await ensureTrusted(transaction, mode);
      const count = await store.addPayouts(transaction, 1);
      advance(store.payouts, count - 1, count);
    },
    reserve(mode, sourceId, first, next) {
      if (mode === 'live') advance(sourceId, first, next);
    },
  };
}
