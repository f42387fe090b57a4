/**
 * CoinGecko, https://docs.coingecko.com/reference/simple-price
 *
 * `GET /api/v3/simple/price?ids=bitcoin,…&vs_currencies=usd&include_last_updated_at=true&precision=full` answers
 * `{"bitcoin":{"usd":67187.3358936566,"last_updated_at":1711356300},…}`. The time is in seconds. Without a key, prices are
 * up to a minute old, and about five requests a minute are allowed. A coin that it does not know is left out.
 */
import * as z from 'zod/mini';
import { symbolsOf } from '../currency-list.js';
import { fieldsOf, priceOf, timed, type RateSourceAdapter } from './source.js';

const simplePrice = z.record(z.string(), z.unknown());

const currencies = new Map(symbolsOf('coingecko').map(({ currency, symbol }) => [symbol, currency]));

export const coingecko: RateSourceAdapter = {
  name: 'coingecko',
  dollarPrices: 'crypto',
  url: 'https://api.coingecko.com',
  markets: [...currencies.keys()],
  path: (ids) =>
    `/api/v3/simple/price?ids=${ids.join(',')}&vs_currencies=usd&include_last_updated_at=true&precision=full`,
  intervalMs: 30_000,
  read(reply) {
    return {
      readings: Object.entries(simplePrice.parse(reply)).flatMap(([market, entry]) => {
        const currency = currencies.get(market);
        if (currency === undefined) return [];
        const { usd, last_updated_at: at } = fieldsOf(entry);
        return [{ ...timed(priceOf(usd), at), market, currency, quotedIn: 'USD' }];
      }),
    };
  },
};
