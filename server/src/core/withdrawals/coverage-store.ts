/** Sums what a merchant's coins are about to leave for, and what moving them has cost. */
import type { Reader } from '../db/engine.js';
import type { TransferRow } from '../db/schema.js';
import { sumUnits } from '../db/units.js';
import { transferRows } from './transfer-store.js';

type Of = Pick<TransferRow, 'merchant_id' | 'mode' | 'currency' | 'network'>;

/**
 * By network, the units of transfers that are on their way, or that a wallet may send at any time: in an export or a PSBT.
 * @param except does not count, nor does what no wallet was asked for of the export
 */
export async function sumMoving(
  reader: Reader,
  { merchant_id, mode, currency }: Of,
  {
    except,
    exportId = '',
  }: { readonly except: readonly { readonly id: string }[]; readonly exportId?: string | undefined },
): Promise<ReadonlyMap<string, bigint>> {
  const ids = new Set(except.map(({ id }) => id));
  const rows = await reader
    .selectFrom('transfers')
    .select(['id', 'network', 'amount', 'fee'])
    .where((e) => e.and({ merchant_id, mode, currency }))
    .where('status', 'in', ['pending', 'processing'])
    .where(({ exists, or, and, not, eb, selectFrom }) =>
      or([
        eb('status', '=', 'processing'),
        exists(
          selectFrom('transfer_exports')
            .select('transfer_exports.id')
            .whereRef('transfer_exports.transfer_id', '=', 'transfers.id')
            .where('transfer_exports.released_at', 'is', null)
            .where((e) =>
              not(
                and([e('transfer_exports.id', '=', exportId), e('transfer_exports.handed_at', 'is', null)]),
              ),
            ),
        ),
        exists(
          selectFrom('psbt_transfers')
            .select('psbt_transfers.psbt_id')
            .whereRef('psbt_transfers.transfer_id', '=', 'transfers.id')
            .where('psbt_transfers.is_held', '=', 1),
        ),
      ]),
    )
    .execute();
  const sums = new Map<string, bigint>();
  for (const { id, network, amount, fee } of rows.map(transferRows.decode)) {
    if (!ids.has(id)) sums.set(network, (sums.get(network) ?? 0n) + amount + fee);
  }
  return sums;
}

/**
 * The sum that networks have charged for the merchant's payouts and sweeps beyond the fees that were held for them,
 * in units.
 */
export async function sumCharged(
  reader: Reader,
  { merchant_id, mode, currency, network }: Of,
): Promise<bigint> {
  const ofTransfers = await reader
    .selectFrom('transfers')
    .select([sumUnits(reader, 'network_fee').as('total'), sumUnits(reader, 'fee').as('held')])
    .where((e) => e.and({ merchant_id, mode, currency, network, status: 'success' }))
    .executeTakeFirstOrThrow();
  const ofTreasuries = await reader
    .selectFrom('treasury_fees')
    .select(sumUnits(reader, 'amount').as('total'))
    .where((e) => e.and({ merchant_id, mode, currency, network, is_reversed: 0 }))
    .executeTakeFirstOrThrow();
  const beyond = BigInt(ofTransfers.total) + BigInt(ofTreasuries.total) - BigInt(ofTransfers.held);
  return beyond > 0n ? beyond : 0n;
}
