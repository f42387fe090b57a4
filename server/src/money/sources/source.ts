/** The interface of a source of exchange rates, and exact prices from the text of its replies. */
import type { Rate } from '../rates.js';

/** An exact positive number. */
export type Price = Pick<Rate, 'numerator' | 'denominator'>;

/** The price of one currency at one source. */
export interface Quote {
  readonly currency: string;
  /** What one unit of the currency costs in `quotedIn`. */
  readonly price: Price;
  /** A price in USDT is converted at the price of USDT itself: a stablecoin is never assumed to be a dollar. */
  readonly quotedIn: 'USD' | 'USDT';
  /** When the price was current, epoch milliseconds; undefined if the source does not say. */
  readonly at?: number;
}

export interface Reply {
  readonly quotes: readonly Quote[];
  /** When the source will have something new, epoch milliseconds; undefined if it does not say. */
  readonly nextAt?: number;
}

/** A source: one GET request, and how to read its reply. */
export interface RateSourceAdapter {
  /** As in `RATES`. */
  readonly name: string;
  /** Which currencies it prices in US dollars, directly: coins, fiat currencies, both, or neither. */
  readonly dollarPrices: 'crypto' | 'fiat' | 'all' | 'none';
  /** Where the source is, without a trailing slash. `RATES` can replace it. */
  readonly url: string;
  readonly path: string;
  /** Time between two requests. */
  readonly intervalMs: number;
  /**
   * @param reply parsed JSON in which every number is text
   * @throws if the reply does not have the documented form
   */
  read(reply: unknown): Reply;
}

/** Every number in JSON text, and every string, so that digits in strings are skipped. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Parses JSON without floats: each number becomes the text that the source wrote. @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  // What is not JSON must not become JSON by the replacement.
  JSON.parse(text);
  return JSON.parse(text.replace(tokens, (token) => (token.startsWith('"') ? token : `"${token}"`)));
}

const decimal = /^(\d{1,30})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** Parses the text of a decimal. Undefined if it is not one, or not above 0. */
export function parsePrice(text: string): Price | undefined {
  const match = decimal.exec(text);
  if (!match) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return undefined;
  const scale = fraction.length - Number(exponent);
  return scale >= 0
    ? reduced(digits, 10n ** BigInt(scale))
    : { numerator: digits * 10n ** BigInt(-scale), denominator: 1n };
}

/** The price of a dollar in a currency, as the price of the currency in dollars, and the other way round. */
export function inverse({ numerator, denominator }: Price): Price {
  return { numerator: denominator, denominator: numerator };
}

export function multiply(a: Price, b: Price): Price {
  return reduced(a.numerator * b.numerator, a.denominator * b.denominator);
}

export function average(a: Price, b: Price): Price {
  return reduced(
    a.numerator * b.denominator + b.numerator * a.denominator,
    2n * a.denominator * b.denominator,
  );
}

/** Below 0 if `a` is lower, above 0 if it is higher. */
export function compare(a: Price, b: Price): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Whether a price differs from another by at most a number of percents of the other. */
export function isWithin(price: Price, other: Price, percents: bigint): boolean {
  const ours = price.numerator * other.denominator;
  const theirs = other.numerator * price.denominator;
  const difference = ours > theirs ? ours - theirs : theirs - ours;
  return difference * 100n <= theirs * percents;
}

/** The middle between the best offers of a market. Undefined if they are further apart than 2 %: nobody trades there. */
export function middle(bid: string, ask: string): Price | undefined {
  const [low, high] = [parsePrice(bid), parsePrice(ask)];
  if (!low || !high || compare(low, high) > 0 || !isWithin(high, low, 2n)) return undefined;
  return average(low, high);
}

function reduced(numerator: bigint, denominator: bigint): Price {
  let [a, b] = [numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  return { numerator: numerator / a, denominator: denominator / a };
}
