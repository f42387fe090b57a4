/** The interface of a source of exchange rates, and exact JSON from the text of its replies. */
import { average, compare, isWithin, parsePositive, type Fraction } from '../fractions.js';

/** The price of one currency at one source. */
export interface Quote {
  readonly currency: string;
  /** What one unit of the currency costs in `quotedIn`. */
  readonly price: Fraction;
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
const tokens = /"(?:[^"\\]|\\.)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Parses JSON without floats: each number becomes the text that the source wrote. @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  // What is not JSON must not become JSON by the replacement.
  JSON.parse(text);
  return JSON.parse(text.replace(tokens, (token) => (token.startsWith('"') ? token : `"${token}"`)));
}

/** The middle between the best offers of a market. Undefined if they are further apart than 2 %: nobody trades there. */
export function middle(bid: string, ask: string): Fraction | undefined {
  const [low, high] = [parsePositive(bid), parsePositive(ask)];
  if (!low || !high || compare(low, high) > 0 || !isWithin(high, low, 2n)) return undefined;
  return average(low, high);
}
