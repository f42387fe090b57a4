/**
 * Bitstamp, https://www.bitstamp.net/api/#tag/Tickers
 *
 * `GET /api/v2/ticker/` answers every market:
 * `[{"pair":"BTC/USD","bid":"63299","ask":"63300","last":"63300","timestamp":"1643640186",…},…]`.
 * The timestamp is in seconds.
 */
import * as z from 'zod/mini';
import { middle, type RateSourceAdapter } from './source.js';

const tickers = z.array(
  z.object({
    pair: z.string(),
    bid: z.string(),
    ask: z.string(),
    timestamp: z.string().check(z.regex(/^\d{1,12}$/)),
  }),
);

export const bitstamp: RateSourceAdapter = {
  name: 'bitstamp',
  dollarPrices: 'crypto',
  url: 'https://www.bitstamp.net',
  path: '/api/v2/ticker/',
  intervalMs: 15_000,
  read(reply) {
    return {
      quotes: tickers.parse(reply).flatMap(({ pair, bid, ask, timestamp }) => {
        const currency = /^([A-Z0-9]+)\/USD$/.exec(pair)?.[1];
        const price = middle(bid, ask);
        return currency && price ? [{ currency, price, quotedIn: 'USD', at: Number(timestamp) * 1000 }] : [];
      }),
    };
  },
};
