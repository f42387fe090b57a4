/**
 * Bitstamp, https://www.bitstamp.net/api/#tag/Tickers
 *
 * `GET /api/v2/ticker/` answers every market:
 * `[{"pair":"BTC/USD","bid":"63299","ask":"63300","last":"63300","timestamp":"1643640186",…},…]`.
 * The timestamp is in seconds.
 */
import * as z from 'zod/mini';
import { fieldsOf, middle, timed, type RateSourceAdapter } from './source.js';

const tickers = z.array(z.unknown());

export const bitstamp: RateSourceAdapter = {
  name: 'bitstamp',
  dollarPrices: 'crypto',
  url: 'https://www.bitstamp.net',
  markets: [],
  path: () => '/api/v2/ticker/',
  intervalMs: 15_000,
  read(reply) {
    return {
      readings: tickers.parse(reply).flatMap((ticker) => {
        const { pair, bid, ask, timestamp } = fieldsOf(ticker);
        const [, currency] = /^([A-Z0-9]+)\/USD$/.exec(String(pair)) ?? [];
        if (currency === undefined) return [];
        const market = `${currency}/USD`;
        return [{ ...timed(middle(bid, ask), timestamp), market, currency, quotedIn: 'USD' }];
      }),
    };
  },
};
