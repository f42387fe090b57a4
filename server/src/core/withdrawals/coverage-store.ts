/** Sums a merchant's coins that are about to leave, and the cost of moving coins. */
import type { Reader } from '../db/engine.js';
import { sumUnits } from '../db/units.js';
import { transferRows } from './transfer-store.js';
import { walletParts, type ChargedCoins } from './waiting-transfers.js';

/**
 * The units of transfers that are on their way, or that a wallet may send at any time, by network.
 * @param except transfers that do not count; neither do those of the export that no wallet was asked to pay
 */
export async function sumMoving(
  reader: Reader,
  { merchant_id, mode, currency }: ChargedCoins,
  {
    except,
    exportId,
  }: { readonly except: readonly { readonly id: string }[]; readonly exportId?: string | undefined },
): Promise<ReadonlyMap<string, bigint>> {
  const ids = new Set(except.map(({ id }) => id));
  const rows = await reader
    .selectFrom('transfers')
    .select(['id', 'network', 'amount', 'fee'])
    .where((e) => e.and({ merchant_id, mode, currency }))
    .where('status', 'in', ['pending', 'processing'])
    .where(({ or, eb }) =>
      or([eb('status', '=', 'processing'), ...walletParts(reader).map(({ isHeld }) => isHeld(exportId))]),
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
  { merchant_id, mode, currency, network }: ChargedCoins,
): Promise<bigint> {
  const ofTransfers = await reader
    .selectFrom('transfers')
    .select([sumUnits(reader, 'network_fee').as('total'), sumUnits(reader, 'fee').as('held')])
    .where((e) => e.and({ merchant_id, mode, currency, network, status: 'success' }))
    .executeTakeFirstOrThrow();
  let beyond = BigInt(ofTransfers.total) - BigInt(ofTransfers.held);
  for (const { sumCharged: ofModule } of walletParts(reader)) {
    beyond += (await ofModule?.(reader, { merchant_id, mode, currency, network })) ?? 0n;
  }
  return beyond > 0n ? beyond : 0n;
}
