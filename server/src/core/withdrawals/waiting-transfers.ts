/** The transfers that wait for a merchant's wallet, for the rooms that hand them to one. */
import type { NetworkRef } from '../chains/chain.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { TransferRow } from '../db/schema.js';
import { hasRows, within } from '../db/rows.js';
import type { Within } from '../shared/scope.js';
import { lockTransfer, transferRows } from './transfer-store.js';

const waiting = (reader: Reader, of: Within) =>
  reader
    .selectFrom('transfers')
    .where((e) => e.and({ executor: 'operator', status: 'pending' }))
    .$call(within(of));

/** Oldest first. */
export async function waitingTransfers(
  reader: Reader,
  { mode, network }: NetworkRef,
  merchantId?: string,
): Promise<TransferRow[]> {
  const rows = await waiting(reader, { merchantId, mode })
    .selectAll()
    .where('network', '=', network)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(transferRows.decode);
}

/** A payment by a wallet to some address. */
type Paid = Pick<TransferRow, 'mode' | 'network' | 'currency' | 'address' | 'amount'>;

/** All that wallets pay, whatever has become of it. */
const like = (reader: Reader, { mode, network, currency, address, amount }: Paid) =>
  reader
    .selectFrom('transfers')
    .where((e) =>
      e.and({ executor: 'operator', mode, network, currency, address, ...transferRows.encode({ amount }) }),
    );

/** True if there is a transfer, of any merchant, that a payment may have been for. */
export const hasLike = (reader: Reader, paid: Paid): Promise<boolean> => hasRows(like(reader, paid));

/**
 * The transfers like a payment that wallets may have sent although nothing waits for them: those that failed, and those that were
 * paid, and let go without a proof before, each as often as it was let go. Newest first.
 */
export async function endedLike(
  reader: Reader,
  paid: Paid,
): Promise<{ readonly failed: readonly TransferRow[]; readonly again: readonly TransferRow[] }> {
  const stored = await like(reader, paid)
    .where('status', 'in', ['failed', 'success'])
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  const rows = stored.map(transferRows.decode);
  const again: TransferRow[] = [];
  for (const row of rows.filter(({ status }) => status === 'success')) {
    const { count } = await reader
      .selectFrom('transfer_exports')
      .select((e) => e.fn.countAll<number | string>().as('count'))
      .where('transfer_id', '=', row.id)
      .where('released_at', 'is not', null)
      .where('released_nonce', 'is', null)
      .executeTakeFirstOrThrow();
    const taken = rows.filter(({ pays_again: id, status }) => id === row.id && status === 'success').length;
    for (let time = taken; time < Number(count); time += 1) again.push(row);
  }
  return { failed: rows.filter(({ status }) => status === 'failed'), again };
}

/** Those in a currency that a wallet may have in an export that was let go without a proof, whatever has become of them. */
export async function unprovenTransfers(
  reader: Reader,
  { mode, network }: NetworkRef,
  currency: string,
): Promise<TransferRow[]> {
  const rows = await reader
    .selectFrom('transfers')
    .selectAll()
    .where((e) => e.and({ executor: 'operator', mode, network, currency }))
    .where('status', 'in', ['failed', 'success'])
    .where('id', 'in', (e) =>
      e
        .selectFrom('transfer_exports')
        .select('transfer_id')
        .where('released_at', 'is not', null)
        .where('released_nonce', 'is', null),
    )
    .execute();
  return rows.map(transferRows.decode);
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
): Promise<ReadonlyMap<string, TransferRow>> {
  const locked = new Map<string, TransferRow>();
  for (const id of [...ids].sort()) {
    const row = await lockTransfer(transaction, id);
    if (row) locked.set(id, row);
  }
  return locked;
}
