/** The depth at which money on a chain counts: the more it is worth, the deeper. */
import { toUnits } from 'crypto-checkout/contract';
import type { Depth, Network, Worth } from '../chains/networks.js';
import type { Currencies } from '../money/currencies.js';
import { convert, type Rate, type RateSource } from '../money/rates.js';

/** An amount of a currency, in units. */
export interface Sum {
  readonly units: bigint;
  readonly currency: string;
}

/** Sums that are judged together, or `countless` for more than anybody counts, which exceed every limit. */
export type Stake = readonly Sum[] | 'countless';

export type Depths = ReturnType<typeof createDepths>;

export function createDepths(rates: RateSource, currencies: Pick<Currencies, 'known'>) {
  /** The worth of a sum in another currency, in its units; undefined if a rate is unknown. */
  function worthOf({ units, currency }: Sum, code: string): bigint | undefined {
    const [from, to] = [rates.latest(currency), rates.latest(code)];
    if (!from || !to) return undefined;
    const denomination = (rate: Rate, of: string) => ({ rate, decimals: currencies.known(of).decimals });
    return convert(units, denomination(from, currency), denomination(to, code), 'up');
  }

  /** True if sums are together worth more than a limit, or if that is unknown. */
  function exceeds(stake: Stake, limit: Worth): boolean {
    if (stake === 'countless') return true;
    const worths = stake.map((sum) => worthOf(sum, limit.currency));
    if (worths.includes(undefined)) return true;
    const together = worths.reduce<bigint>((total, worth = 0n) => total + worth, 0n);
    return together > toUnits(limit.amount, currencies.known(limit.currency).decimals);
  }

  return {
    depthOf({ confirmations, depths = [] }: Pick<Network, 'confirmations' | 'depths'>, stake: Stake): Depth {
      const rule = depths.find(({ upTo }) => !upTo || !exceeds(stake, upTo));
      return rule ? rule.confirmations : confirmations;
    },

    /** True if `depthOf` had the rates that it needs: without them it is the deepest one. */
    isDepthKnown: ({ depths = [] }: Pick<Network, 'depths'>, stake: Stake): boolean =>
      stake === 'countless' ||
      depths.every(({ upTo }) => !upTo || stake.every((sum) => worthOf(sum, upTo.currency) !== undefined)),

    /** True if receipts of this worth count only when a second node has confirmed them. */
    isCrossChecked: ({ crossCheckAbove }: Pick<Network, 'crossCheckAbove'>, stake: Stake): boolean =>
      crossCheckAbove !== undefined && exceeds(stake, crossCheckAbove),
  };
}

export function deeper(a: Depth, b: Depth): Depth {
  return a === null || b === null ? null : Math.max(a, b);
}

/** The most confirmations that payers see on a network. */
export function mostConfirmations(network: Network): number {
  const all = [network.confirmations, ...(network.depths ?? []).map(({ confirmations }) => confirmations)];
  return Math.max(...all.map((depth) => shownConfirmations(depth, network)));
}

/** The number that payers see: if a block must be final, the confirmations that it usually has then. */
export function shownConfirmations(
  depth: Depth,
  { confirmations, blockSeconds = 12, finalitySeconds = 900 }: Network,
): number {
  return depth ?? Math.max(confirmations, Math.ceil(finalitySeconds / blockSeconds));
}
