/** One price out of several sources: their median, as long as enough of them agree with it. */
import { average, compare, isWithin, type Fraction } from './fractions.js';

export interface SourcePrice {
  readonly source: string;
  /** In US dollars. */
  readonly price: Fraction;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** How far a price may be from the median, in percents. */
const tolerance = 2n;

/**
 * The prices that lie within 2 % of the median of all. One source that lies cannot move the price: without it there are
 * two others that agree, or there is no price.
 */
export function agreeing(prices: readonly SourcePrice[]): SourcePrice[] {
  const center = median(prices.map(({ price }) => price));
  return center ? prices.filter(({ price }) => isWithin(price, center, tolerance)) : [];
}

/** Undefined if there are none. */
export function median(prices: readonly Fraction[]): Fraction | undefined {
  const sorted = [...prices].sort(compare);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  return upper && lower && (upper === lower ? upper : average(lower, upper));
}
