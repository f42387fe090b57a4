/** The interface of a source of exchange rates, and exact JSON from the text of its replies. */
import * as z from 'zod/mini';
import { average, compare, inverse, isWithin, parsePositive, type Fraction } from '../fractions.js';

/** The price of a market, or why it has none. */
export type Price = { readonly price: Fraction } | { readonly problem: string };

/** One market in the reply of a source. */
export type Reading = Price & {
  /** The name in the request, or the name that the source uses. */
  readonly market: string;
  /** A source has one market for each currency. */
  readonly currency: string;
  /** A price in USDT is converted at the price of USDT itself: a stablecoin is never assumed to be a dollar. */
  readonly quotedIn: 'USD' | 'USDT';
  /** When the price was current, epoch milliseconds; undefined if the source does not say. */
  readonly at?: number;
};

export interface Reply {
  readonly readings: readonly Reading[];
  /** When the source will have something new, epoch milliseconds; undefined if it does not say. */
  readonly nextAt?: number;
}

/** A source: its GET requests, and how to read the replies. */
export interface RateSourceAdapter {
  /** Its name in `RATES`. */
  readonly name: string;
  /** The currencies that it prices in US dollars, directly: coins, fiat currencies, both, or neither. */
  readonly dollarPrices: 'crypto' | 'fiat' | 'all' | 'none';
  /** The URL of the source, without a trailing slash. `RATES` can replace it. */
  readonly url: string;
  /** The markets that it is asked for by name; none if it answers all that it has. */
  readonly markets: readonly string[];
  /** @param markets some of its markets */
  path(markets: readonly string[]): string;
  /** Time between two requests. */
  readonly intervalMs: number;
  /**
   * Reads each market separately: one that is halted or malformed says nothing about the others.
   * @param reply parsed JSON in which every number is text
   * @throws RequestRefused if the source no longer knows one of the markets, and answers none because of it
   * @throws if the reply as a whole does not have the documented form
   */
  read(reply: unknown): Reply;
}

/** Every number in JSON text, and every string, so that digits in strings are skipped. */
const tokens = /"(?:[^"\\]|\\.)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Parses JSON without floats: each number becomes the text that the source wrote. @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  // Invalid JSON must not become valid by the replacement.
  JSON.parse(text);
  return JSON.parse(text.replace(tokens, (token) => (token.startsWith('"') ? token : `"${token}"`)));
}

const noPrice = { problem: 'it has no price' } as const;

/** @param value the value where the source documents a price */
export function priceOf(value: unknown): Price {
  const price = typeof value === 'string' ? parsePositive(value) : undefined;
  return price ? { price } : noPrice;
}

/** The price of a currency of which one dollar buys so much. */
export function dollarsOf(unitsPerDollar: unknown): Price {
  const units = priceOf(unitsPerDollar);
  return 'problem' in units ? units : { price: inverse(units.price) };
}

/** The middle between the best offers of a market. One whose offers are further apart than 2 % has no price: nobody trades there. */
export function middle(bid: unknown, ask: unknown): Price {
  const [low, high] = [priceOf(bid), priceOf(ask)];
  if ('problem' in low || 'problem' in high) return noPrice;
  if (compare(low.price, high.price) > 0) return { problem: 'its bid is above its ask' };
  if (!isWithin(high.price, low.price, 2n)) {
    return { problem: 'its bid and its ask are more than 2 % apart' };
  }
  return { price: average(low.price, high.price) };
}

const seconds = z.string().check(z.regex(/^\d{1,12}$/));

/** A price with its time. Without one, it could be of any age. @param value seconds since 1970 */
export function timed(price: Price, value: unknown): Price & { readonly at?: number } {
  const { data } = seconds.safeParse(value);
  if (data === undefined) return 'problem' in price ? price : { problem: 'its price has no time' };
  return { ...price, at: Number(data) * 1000 };
}

/** The fields of a source's data on a market; none if that is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
