/** How deep money must be on its chain before it counts: the more it is worth, the deeper. */
import { toUnits } from 'crypto-checkout/contract';
import type { Depth, Network, Worth } from '../chains/networks.js';
import type { Currencies } from '../money/currencies.js';
import { convert, type RateSource } from '../money/rates.js';

/** An amount of a currency, in units. */
export interface Sum {
  readonly units: bigint;
  readonly currency: string;
}

export type Depths = ReturnType<typeof createDepths>;

export function createDepths(rates: RateSource, currencies: Pick<Currencies, 'known'>) {
  /** Whether a sum is worth more than a limit. True if that is unknown. */
  function exceeds({ units, currency }: Sum, limit: Worth): boolean {
    const [from, to] = [rates.latest(currency), rates.latest(limit.currency)];
    if (!from || !to) return true;
    const { decimals } = currencies.known(limit.currency);
    const worth = convert(
      units,
      { rate: from, decimals: currencies.known(currency).decimals },
      { rate: to, decimals },
      'up',
    );
    return worth > toUnits(limit.amount, decimals);
  }

  return {
    depthOf({ confirmations, depths = [] }: Pick<Network, 'confirmations' | 'depths'>, sum: Sum): Depth {
      const rule = depths.find(({ upTo }) => !upTo || !exceeds(sum, upTo));
      return rule ? rule.confirmations : confirmations;
    },

    /** Whether a receipt of this sum counts only when a second node has confirmed it. */
    isCrossChecked: ({ crossCheckAbove }: Pick<Network, 'crossCheckAbove'>, sum: Sum): boolean =>
      crossCheckAbove !== undefined && exceeds(sum, crossCheckAbove),
  };
}

export function deeper(a: Depth, b: Depth): Depth {
  return a === null || b === null ? null : Math.max(a, b);
}

/** The most confirmations that payers are told on a network. */
export function mostConfirmations(network: Network): number {
  const all = [network.confirmations, ...(network.depths ?? []).map(({ confirmations }) => confirmations)];
  return Math.max(...all.map((depth) => shownConfirmations(depth, network)));
}

/** The number that payers are told: if a block must be final, how many confirmations it usually has then. */
export function shownConfirmations(
  depth: Depth,
  { confirmations, blockSeconds = 12, finalitySeconds = 900 }: Network,
): number {
  return depth ?? Math.max(confirmations, Math.ceil(finalitySeconds / blockSeconds));
}
