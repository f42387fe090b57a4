/**
 * The height that the watcher of treasuries has read to, the transfers that it is not certain about, and those that
 * exports hold, by network.
 */
import { readCursor as readScan } from '../../core/scanning/cursors.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import type { Reader } from '../../core/db/engine.js';
import { exportFigures } from '../networks/export-figures.js';
import { byNetwork, type Figure } from '../../core/shared/feature.js';
import { reservedTransfers, unclearTransfers } from './export-store.js';
import { placeOf, type TreasuryContext } from './context.js';
import { readOwners } from './owners.js';
import { slackOf } from './seen-payments.js';
import { finalHeight } from '../../core/scanning/finality.js';
import { mostShown } from './outflows.js';
import { countUnexplained, readCursor, unexplainedPayments } from './watch-store.js';

export type TreasuryStatus = Awaited<ReturnType<typeof readTreasuryStatus>>[number];

/** The networks on which a merchant has a treasury, or an export holds something. Asks no node. */
export async function readTreasuryStatus(deps: TreasuryContext, reader: Reader) {
  const reserved = await reservedTransfers(reader, {});
  const unclear = await unclearTransfers(reader, {});
  const found = [];
  for (const on of deps.networks) {
    const place = placeOf(on);
    const { mode, network } = place;
    const isHere = (row: NetworkRef) => row.mode === mode && row.network === network;
    const exported = reserved.filter(isHere);
    const { treasuries } = await readOwners(deps, reader, mode);
    if (treasuries.length === 0 && exported.length === 0) continue;
    const cursor = await readCursor(reader, place);
    const scan = await readScan(reader, place);
    const behind =
      treasuries.length > 0 && scan
        ? Math.max(0, finalHeight(on.network, scan.head_height) - (cursor ?? 0))
        : 0;
    found.push({
      mode,
      network,
      /** The last block whose payments are known; null before the first. */
      height: cursor ?? null,
      /** The number of final blocks left to read, and the time in which such blocks are made. */
      behind,
      lagSeconds: Math.round(behind * on.blockSeconds),
      /** If so, no transfer can be exported or failed. */
      isBehind: behind > slackOf(on),
      /** The ids of transfers that may have been paid, and that no node knew for certain. */
      unclear: unclear.filter(isHere).map(({ id }) => id),
      /** The ids of transfers that were paid in a block which the network dropped: they wait again, and are reserved. */
      reversed: exported.filter(({ reversals }) => reversals > 0).map(({ id }) => id),
      /** The number of payments that left a treasury and that no transfer explains, and the oldest of them. */
      unexplained: await countUnexplained(reader, place),
      outflows: await unexplainedPayments(reader, place, mostShown),
      /** The number of transfers that exports hold, and the time when the oldest was exported; null without one. */
      reserved: exported.length,
      reservedSince: exported[0]?.exported_at ?? null,
    });
  }
  return found;
}

/** @param status the result of `readTreasuryStatus` */
export function treasuryFigures(
  status: () => Promise<readonly TreasuryStatus[]>,
  now: () => number,
): Figure[] {
  const figure = (name: string, help: string, valueOf: (one: TreasuryStatus) => number) =>
    byNetwork({
      name,
      help,
      read: async () => (await status()).map((one) => [one, valueOf(one)] as const),
    });
  return [
    figure(
      'checkout_treasury_lag_seconds',
      'The delay of reading payments by treasuries behind the final blocks, in seconds',
      ({ lagSeconds }) => lagSeconds,
    ),
    figure(
      'checkout_transfers_unclear',
      'Transfers that a treasury may have paid, and no node could show it; see the command `chains status`',
      ({ unclear }) => unclear.length,
    ),
    figure(
      'checkout_transfers_reversed',
      'Transfers that a treasury had paid in a block which the network dropped, and that wait again; see `chains status`',
      ({ reversed }) => reversed.length,
    ),
    figure(
      'checkout_treasury_outflows',
      'Payments that left a treasury and that no transfer explains; see the command `chains status`',
      ({ unexplained }) => unexplained,
    ),
    ...exportFigures(
      async () =>
        (await status()).flatMap(({ mode, network, reserved: count, reservedSince: since }) =>
          since === null ? [] : { mode, network, count, since },
        ),
      now,
    ),
  ];
}
