/** Exchange rates: the interface that fixed and live rates share, and exact conversion. */
import { Problem } from '../shared/problem.js';
import type { Fraction } from './fractions.js';

/** The price of one coin (or one naira, euro, …) in US dollars, as a fraction: conversions only round at the end. */
export interface Rate extends Fraction {
  readonly source: string;
  /** The time of the rate, epoch milliseconds. */
  readonly at: number;
  /**
   * The greatest age of the rate for a price to be locked at it; a minute if absent. Fiat rates are published once a
   * day.
   */
  readonly maxAgeMs?: number;
}

export interface RateSource {
  /** The newest known rate of a currency, or undefined. Reads memory only: sources refresh in the background. */
  latest(currency: string): Rate | undefined;
}

/** A price cannot be locked at a rate older than this, unless the rate says otherwise. */
const maxRateAgeMs = 60_000;

/**
 * The newest rate of a currency. Problem: `rate_unavailable`.
 * @param now real time, if the rate has to be recent enough to lock a price
 */
export function requireRate(rates: RateSource, code: string, now = Number.NEGATIVE_INFINITY): Rate {
  const rate = rates.latest(code);
  if (rate && isCurrent(rate, now)) return rate;
  throw new Problem(
    'rate_unavailable',
    `There is no current exchange rate for ${code}, so no price can be promised; try again shortly. If it stays so, the server's operator sees why with "rates show"`,
    { retryAfterSeconds: 5 },
  );
}

/** True if a price can be locked at a rate. */
export function isCurrent({ at, maxAgeMs = maxRateAgeMs }: Rate, now: number): boolean {
  return now - at <= maxAgeMs;
}

export interface Denomination {
  readonly rate: Rate;
  readonly decimals: number;
}

/** The worth of one smallest unit of `from`, in smallest units of `to`. */
export function unitRate(from: Denomination, to: Denomination): Fraction {
  return {
    numerator: from.rate.numerator * to.rate.denominator * 10n ** BigInt(to.decimals),
    denominator: from.rate.denominator * to.rate.numerator * 10n ** BigInt(from.decimals),
  };
}

/**
 * Converts an amount between currencies. Only the last step rounds.
 * @param units integer of the smallest unit of `from`
 * @param rounding `up` for an amount that a payer owes, `down` for a value that must not be overstated, `nearest` for
 * display
 * @returns integer of the smallest unit of `to`
 */
export function convert(
  units: bigint,
  from: Denomination,
  to: Denomination,
  rounding: 'up' | 'down' | 'nearest',
): bigint {
  const one = unitRate(from, to);
  const numerator = units * one.numerator;
  const { denominator } = one;
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
