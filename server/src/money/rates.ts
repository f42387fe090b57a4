/** What currencies are worth: the interface that fixed and live rates share, and exact conversion. */

/** The price of one whole unit in US dollars, as a fraction, so that no conversion rounds before its end. */
export interface Rate {
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly source: string;
  /** When the source gave it, epoch milliseconds. */
  readonly at: number;
}

export interface RateSource {
  /** The newest known rate of a currency, or undefined. Answers from memory: sources refresh in the background. */
  latest(currency: string): Rate | undefined;
}

export interface Denomination {
  readonly rate: Rate;
  readonly decimals: number;
}

/**
 * Converts an amount between currencies, exactly until the last step.
 * @param units integer of the smallest unit of `from`
 * @param rounding `up` for what a payer owes, `down` for what must at least be worth something, `nearest` for what is told
 * @returns integer of the smallest unit of `to`
 */
export function convert(
  units: bigint,
  from: Denomination,
  to: Denomination,
  rounding: 'up' | 'down' | 'nearest',
): bigint {
  const numerator = units * from.rate.numerator * to.rate.denominator * 10n ** BigInt(to.decimals);
  const denominator = from.rate.denominator * to.rate.numerator * 10n ** BigInt(from.decimals);
  switch (rounding) {
    case 'up':
      return (numerator + denominator - 1n) / denominator;
    case 'down':
      return numerator / denominator;
    case 'nearest':
      return (2n * numerator + denominator) / (2n * denominator);
    default:
      return rounding satisfies never;
  }
}
