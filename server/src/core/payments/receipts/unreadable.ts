/**
 * Payments that a scan cannot read, because a column of theirs or of a receipt does not have the form that is declared
 * for it. Only they are quarantined, and the network continues. Until they can be read again, their new transfers are
 * kept like those whose receipts cannot be stored, and their receipts lose the blocks that the chain loses.
 */
import type { Transaction } from '../../db/engine.js';
import type { PlainPayment } from '../store.js';
import type { NewReceipts } from './make-receipt.js';
import type { Quarantine } from './quarantine.js';
import { forgetPlaces } from './receipt-store.js';
import type { Scan } from './work.js';

/** A payment that cannot be read, and the keys of those of its receipts that the scan may change. */
export interface Unreadable {
  readonly payment: PlainPayment;
  readonly error: unknown;
  readonly keys: Set<string>;
}

export function createSetAside(quarantine: Quarantine, { awaitedWithoutBlock }: NewReceipts) {
  /**
   * Quarantines unreadable payments, unless they wait for their next try, and their transfers.
   * @param unreadable by payment id
   * @returns the scan without these transfers
   */
  return async (
    transaction: Transaction,
    scan: Scan,
    unreadable: ReadonlyMap<string, Unreadable>,
    isWaiting: (paymentId: string) => boolean,
  ): Promise<Scan> => {
    const { network, orphanedAbove, quarantined } = scan;
    const incoming = new Map(scan.incoming);
    const byKey = new Map(
      [...unreadable.values()].flatMap((one) => [...one.keys].map((key) => [key, one] as const)),
    );
    for (const [key, transfer] of scan.incoming) {
      const owner = byKey.get(key) ?? unreadable.get(transfer.address.payment_id ?? '');
      if (!owner) continue;
      incoming.delete(key);
      const failed = { ...scan, id: key, paymentId: transfer.address.payment_id, transfer };
      await quarantine(transaction, { ...failed, error: owner.error }, quarantined.get(key));
    }
    for (const [id, { payment, error }] of unreadable) {
      if (orphanedAbove !== undefined) {
        await forgetPlaces(transaction, scan, id, orphanedAbove, awaitedWithoutBlock(network, payment));
      }
      if (isWaiting(id)) continue;
      const failed = { ...scan, id, paymentId: id, transfer: undefined };
      await quarantine(transaction, { ...failed, error }, quarantined.get(id));
    }
    return { ...scan, incoming };
  };
}
