/** The transfers that wait for a merchant's wallet, for the rooms that hand them to one. */
import type { NetworkRef } from '../chains/chain.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { TransferTable } from '../db/schema.js';
import { within } from '../db/rows.js';
import type { Within } from '../shared/scope.js';
import { lockTransfer } from './transfer-store.js';

const waiting = (reader: Reader, of: Within) =>
  reader
    .selectFrom('transfers')
    .where((e) => e.and({ executor: 'operator', status: 'pending' }))
    .$call(within(of));

/** Oldest first. */
export function waitingTransfers(
  reader: Reader,
  { mode, network }: NetworkRef,
  merchantId?: string,
): Promise<TransferTable[]> {
  return waiting(reader, { merchantId, mode })
    .selectAll()
    .where('network', '=', network)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Those that no export and no PSBT holds. After a restore, what may have been paid is held until it is released. */
export const unheldTransfers = (reader: Reader, of: Within) =>
  waiting(reader, of).where(({ and, exists, not, selectFrom }) =>
    and([
      not(
        exists(
          selectFrom('transfer_exports')
            .select('transfer_exports.id')
            .whereRef('transfer_exports.transfer_id', '=', 'transfers.id')
            .where('transfer_exports.released_at', 'is', null),
        ),
      ),
      not(
        exists(
          selectFrom('psbt_transfers')
            .select('psbt_transfers.psbt_id')
            .whereRef('psbt_transfers.transfer_id', '=', 'transfers.id')
            .where('psbt_transfers.is_held', '=', 1),
        ),
      ),
    ]),
  );

/** Locks transfers until the transaction ends, in one order for all who do. @returns those that exist, as they are now, by id */
export async function lockTransfers(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TransferTable>> {
  const locked = new Map<string, TransferTable>();
  for (const id of [...ids].sort()) {
    const row = await lockTransfer(transaction, id);
    if (row) locked.set(id, row);
  }
  return locked;
}
