/**
 * CoinGecko, https://docs.coingecko.com/reference/simple-price
 *
 * `GET /api/v3/simple/price?ids=bitcoin,…&vs_currencies=usd&include_last_updated_at=true&precision=full` answers
 * `{"bitcoin":{"usd":67187.3358936566,"last_updated_at":1711356300},…}`. The time is in seconds. Without a key, prices are
 * up to a minute old, and about five requests a minute are allowed.
 */
import * as z from 'zod/mini';
import { parsePositive } from '../fractions.js';
import type { RateSourceAdapter } from './source.js';

const simplePrice = z.record(
  z.string(),
  z.object({
    usd: z.optional(z.nullable(z.string())),
    last_updated_at: z.optional(z.nullable(z.string().check(z.regex(/^\d{1,12}$/)))),
  }),
);

const currencies: Readonly<Record<string, string>> = {
  bitcoin: 'BTC',
  ethereum: 'ETH',
  litecoin: 'LTC',
  binancecoin: 'BNB',
  tron: 'TRX',
  'polygon-ecosystem-token': 'POL',
  tether: 'USDT',
  'usd-coin': 'USDC',
};

export const coingecko: RateSourceAdapter = {
  name: 'coingecko',
  dollarPrices: 'crypto',
  url: 'https://api.coingecko.com',
  path: `/api/v3/simple/price?ids=${Object.keys(currencies).join(',')}&vs_currencies=usd&include_last_updated_at=true&precision=full`,
  intervalMs: 30_000,
  read(reply) {
    return {
      quotes: Object.entries(simplePrice.parse(reply)).flatMap(([id, { usd, last_updated_at: at }]) => {
        const currency = currencies[id];
        const price = parsePositive(usd ?? '');
        // Without its time, a price could be of any age.
        return currency && price && at ? [{ currency, price, quotedIn: 'USD', at: Number(at) * 1000 }] : [];
      }),
    };
  },
};
