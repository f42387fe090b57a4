/** One price out of several sources: their median, as long as enough of them agree with it. */
import { average, compare, isWithin, type Fraction } from './fractions.js';

export interface SourcePrice {
  readonly source: string;
  /** In US dollars. */
  readonly price: Fraction;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The largest difference between a price and the median, in percents. */
const tolerance = 2n;

/**
 * The prices within 2 % of the median of all, if the middle ones also agree with each other. The median of two prices
 * can be near both while they are far apart, and a wrong one would then move it by 2 %. With this rule, one dishonest
 * source moves the price by 1 % at most: without it there are two others that agree, or there is no price.
 */
export function agreeing(prices: readonly SourcePrice[]): readonly SourcePrice[] {
  const center = median(prices.map(({ price }) => price));
  const kept = center ? prices.filter(({ price }) => isWithin(price, center, tolerance)) : [];
  const [lower, upper] = middleOf(kept.map(({ price }) => price));
  return lower && upper && isWithin(upper, lower, tolerance) ? kept : [];
}

/** Undefined if there are none. */
export function median(prices: readonly Fraction[]): Fraction | undefined {
  const [lower, upper] = middleOf(prices);
  return upper && lower && (upper === lower ? upper : average(lower, upper));
}

/** The two prices in the middle, the lower one first; twice the same if there is one. */
function middleOf(prices: readonly Fraction[]): readonly (Fraction | undefined)[] {
  const sorted = [...prices].sort(compare);
  return [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
}
