/**
 * The sums that addresses received and sent up to a block, by the books; and the size at which a difference matters.
 * Amounts are in units of the chain.
 */
import { inChunks } from '../../core/db/chunks.js';
import type { Reader } from '../../core/db/engine.js';
import { filtersBy } from '../../core/db/plans.js';
import { queryPartsOf } from '../../core/db/query-parts.js';
import { sumUnits } from '../../core/db/units.js';
import { toChain, type ChainAsset } from '../../core/chains/assets.js';
import type { NetworkRef } from '../../core/chains/chain.js';

/** Identifies a balance on a network. */
export interface Place {
  readonly address: string;
  readonly currency: string;
}

export const placeKey = ({ address, currency }: Place): string => `${address}/${currency}`;

declare module '../../core/db/query-parts.js' {
  interface QueryParts {
    readonly sweeps?: SweepParts;
  }
}

/** Money that left deposit addresses, by the books of a module. */
export interface SweepParts {
  /** The sums that left the addresses up to a block, in units of the chain. */
  sums(
    reader: Reader,
    at: NetworkRef,
    addresses: readonly string[],
    height: number,
  ): Promise<readonly (Place & { readonly units: string })[]>;
  /** The blocks in which money left an address, up to a height. */
  blocks(
    reader: Reader,
    at: NetworkRef,
    place: Place,
    upTo: number,
  ): Promise<readonly { readonly height: number; readonly hash: string }[]>;
  /** The height up to which they are known; undefined before the first block. */
  readUpTo(reader: Reader, at: NetworkRef): Promise<number | undefined>;
}

export const sweepParts = (reader: Reader): readonly SweepParts[] =>
  queryPartsOf(reader).flatMap(({ sweeps }) => sweeps ?? []);

/** The sums that the addresses received and sent up to a block, in all currencies. */
export async function readBooked(
  reader: Reader,
  { mode, network }: NetworkRef,
  addresses: readonly string[],
  height: number,
) {
  const received = await inChunks(addresses, (chunk) =>
    reader
      .selectFrom('receipts')
      .select(['address', 'currency', sumUnits(reader, 'chain_amount').as('units')])
      .where('address', 'in', chunk)
      .where(filtersBy(reader, { mode, network }))
      .where('status', 'in', ['seen', 'confirmed'])
      .where('block_height', '<=', height)
      .groupBy(['address', 'currency'])
      .execute(),
  );
  /** The amounts that the addresses should hold, except for coins that their wallets have moved on their own. */
  const held = new Map(received.map((row) => [placeKey(row), BigInt(row.units)]));
  for (const { sums } of sweepParts(reader)) {
    for (const row of await sums(reader, { mode, network }, addresses, height)) {
      held.set(placeKey(row), (held.get(placeKey(row)) ?? 0n) - BigInt(row.units));
    }
  }
  return {
    /**
     * The difference between a balance and the books: above 0 if it is more.
     * @param spent the amount that the address's wallet has moved on its own
     */
    difference: (place: Place, balance: bigint, spent = 0n): bigint =>
      balance + spent - (held.get(placeKey(place)) ?? 0n),
  };
}

export type Size = 'nothing' | 'dust' | 'surplus' | 'shortage';

/**
 * Dust is a surplus below the smallest payment: not worth a receipt unless somebody asks for it. A difference of less
 * than a unit of the books cannot be booked at all.
 * @param difference in units of the chain
 * @param minAmount the smallest payment, as a plain decimal
 */
export function sizeOf(asset: ChainAsset, difference: bigint, minAmount: string | undefined): Size {
  const unit = toChain(asset, 1n) ?? 1n;
  if (difference < unit && difference > -unit) return 'nothing';
  if (difference < 0n) return 'shortage';
  const [whole = '', part = ''] = (minAmount ?? '0').split('.');
  const { decimals } = asset;
  return difference < BigInt(whole + part.padEnd(decimals, '0').slice(0, decimals)) ? 'dust' : 'surplus';
}
