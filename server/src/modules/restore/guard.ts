/**
 * Stops irreversible actions while the database may be older than they are: addresses given out in live mode, and
 * payouts. Incoming payments are still credited.
 */
import type { Reader, Transaction } from '../../core/db/engine.js';
import { afterCommit } from '../../core/db/transaction-context.js';
import { Problem } from '../../core/shared/problem.js';
import type { Mode, Scope } from '../../core/shared/scope.js';
import type { Marker } from './marker.js';
import * as store from './restore-store.js';

/** The answer to the shop's payers and servers: the operator of the server reads the evidence in `restore status`. */
const noAddress =
  'New payments get no address at the moment, because the server is checking its records. Try again later';

const noPayout =
  'The database may have been restored from an older backup. Until the operator has confirmed that, nothing is paid: see "restore status"';

export function createRestoreGuard(marker: Marker) {
  const refuse = (message: string): never => {
    throw new Problem('service_unavailable', message, { retryAfterSeconds: 60 });
  };

  /** The reason why nothing of a merchant is paid, or of anyone if it is undefined; undefined if payouts continue. */
  async function whyNotPaid(
    reader: Reader,
    mode: Mode,
    merchantId: string | undefined,
  ): Promise<string | undefined> {
    if (mode !== 'live') return undefined;
    const { suspicion } = await store.readState(reader);
    if (!suspicion) return undefined;
    const isStopped =
      merchantId === undefined
        ? store.payouts in suspicion.marker
        : await store.concernsMerchant(reader, suspicion, merchantId);
    return isStopped ? noPayout : undefined;
  }

  async function ensurePayable(reader: Reader, mode: Mode, merchantId: string | undefined): Promise<void> {
    const reason = await whyNotPaid(reader, mode, merchantId);
    if (reason !== undefined) refuse(reason);
  }

  function advance(transaction: Transaction, name: string, from: number, to: number, message: string): void {
    // All that the marker has was committed before, so what is counted now begins there or later. Servers may share the file.
    if (from < (marker.read().get(name) ?? 0)) refuse(message);
    afterCommit(transaction, () => marker.raise(name, to));
  }

  return {
    whyNotPaid,
    /** Problem: `service_unavailable` in live mode while a restore is suspected that concerns the merchant, or all payouts. */
    ensurePayable,
    /**
     * Problem: `service_unavailable` in live mode while a restore is suspected that concerns the key.
     * @returns the number of confirmed restores; reservations from before the last of them must not be used any more
     */
    async ensureTrusted(reader: Reader, { merchantId, mode }: Scope, sourceId: string): Promise<number> {
      if (mode !== 'live') return 0;
      const { suspicion, epoch } = await store.readState(reader);
      return suspicion && store.concernsKey(suspicion, { merchantId, sourceId }) ? refuse(noAddress) : epoch;
    },
    /** True if any restore is suspected: the server's own keys sign nothing then. */
    isSuspected: async (reader: Reader, mode: Mode): Promise<boolean> =>
      mode === 'live' && (await store.readState(reader)).suspicion !== undefined,
    /**
     * To be called in the transaction that exports, signs or stores a payout. Same problem as `ensurePayable`.
     * @param merchantId undefined if it is of several, each of whom was asked of before
     */
    async startPayout(transaction: Transaction, mode: Mode, merchantId?: string): Promise<void> {
      if (mode !== 'live') return;
      await ensurePayable(transaction, mode, merchantId);
      const count = await store.addPayouts(transaction, 1);
      advance(transaction, store.payouts, count - 1, count, noPayout);
    },
    /**
     * To be called in the transaction that reserves indexes of a source. Same problem as `ensureTrusted`.
     * @param next the first one after them
     */
    reserve(transaction: Transaction, mode: Mode, sourceId: string, first: number, next: number): void {
      if (mode === 'live') advance(transaction, sourceId, first, next, noAddress);
    },
  };
}
