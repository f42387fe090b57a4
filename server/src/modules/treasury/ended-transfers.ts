/** Transfers that a payment may have been for although nothing waits for it any more. */
import type { NetworkRef } from '../../core/chains/chain.js';
import type { Reader } from '../../core/db/engine.js';
import { hasRows } from '../../core/db/rows.js';
import { tables, type TransferRow } from '../../core/db/schema.js';
import { valuesOf } from '../../core/db/values.js';

const transferRows = valuesOf(tables.transfers);

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
