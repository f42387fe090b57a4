/**
 * Kraken, https://docs.kraken.com/api/docs/rest-api/get-ticker-information
 *
 * `GET /0/public/Ticker?pair=XBTUSD,…` answers
 * `{"error":[],"result":{"XXBTZUSD":{"a":["52609.60000","1","1.000"],"b":["52609.50000","1","1.000"],"c":[…],…}}}`:
 * `a` is the best ask, `b` the best bid, price first. The names of old pairs are longer in the reply than in the request.
 * One unknown pair, and the answer is `{"error":["EQuery:Unknown asset pair"]}`, which does not say which.
 */
import * as z from 'zod/mini';
import { symbolsOf } from '../currency-list.js';
import { RequestRefused, SourceFailed } from './source-failed.js';
import { fieldsOf, middle, type RateSourceAdapter } from './source.js';

const ticker = z.object({
  error: z.optional(z.unknown()),
  result: z.optional(z.record(z.string(), z.unknown())),
});

const pairs = symbolsOf('kraken').map(({ currency, symbol }) => {
  return { market: `${symbol}USD`, currency, inReply: [`${symbol}USD`, `X${symbol}ZUSD`, `${symbol}ZUSD`] };
});

export const kraken: RateSourceAdapter = {
  name: 'kraken',
  dollarPrices: 'crypto',
  url: 'https://api.kraken.com',
  markets: pairs.map(({ market }) => market),
  path: (markets) => `/0/public/Ticker?pair=${markets.join(',')}`,
  intervalMs: 15_000,
  read(reply) {
    const { error, result } = ticker.parse(reply);
    if (!result) throw failureOf(error);
    return {
      readings: Object.entries(result).flatMap(([name, offers]) => {
        const pair = pairs.find(({ inReply }) => inReply.includes(name));
        if (!pair) return [];
        const { market, currency } = pair;
        const { a, b } = fieldsOf(offers);
        return [{ ...middle(first(b), first(a)), market, currency, quotedIn: 'USD' }];
      }),
    };
  },
};

const first = (offer: unknown): unknown => (Array.isArray(offer) ? offer[0] : undefined);

/** Kraken's own words are in the message if they are what it documents: a severity, a category and a sentence. */
function failureOf(error: unknown): SourceFailed {
  const words = (Array.isArray(error) ? error : [error]).filter(
    (one): one is string => typeof one === 'string' && /^[EW][A-Z][A-Za-z]{1,20}:[\w -]{1,80}$/.test(one),
  );
  if (words.length === 0) return new SourceFailed('It did not answer in the documented form');
  const isRefused = words.some((one) => one.startsWith('EQuery:'));
  return new (isRefused ? RequestRefused : SourceFailed)(`It answered ${words.join(', ')}`);
}
