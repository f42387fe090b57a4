/**
 * Kraken, https://docs.kraken.com/api/docs/rest-api/get-ticker-information
 *
 * `GET /0/public/Ticker?pair=XBTUSD,…` answers
 * `{"error":[],"result":{"XXBTZUSD":{"a":["52609.60000","1","1.000"],"b":["52609.50000","1","1.000"],"c":[…],…}}}`:
 * `a` is the best ask, `b` the best bid, price first. The names of old pairs are longer in the reply than in the request.
 */
import * as z from 'zod/mini';
import { middle, type RateSourceAdapter } from './source.js';

const offer = z.array(z.string()).check(z.minLength(1));

const ticker = z.object({
  error: z.array(z.string()),
  result: z.optional(z.record(z.string(), z.object({ a: offer, b: offer }))),
});

/** By the pair's name in the reply. */
const currencies: Readonly<Record<string, string>> = {
  XXBTZUSD: 'BTC',
  XETHZUSD: 'ETH',
  XLTCZUSD: 'LTC',
  USDTZUSD: 'USDT',
  USDCUSD: 'USDC',
  TRXUSD: 'TRX',
  POLUSD: 'POL',
  BNBUSD: 'BNB',
};

export const kraken: RateSourceAdapter = {
  name: 'kraken',
  dollarPrices: 'crypto',
  url: 'https://api.kraken.com',
  path: '/0/public/Ticker?pair=XBTUSD,ETHUSD,LTCUSD,USDTUSD,USDCUSD,TRXUSD,POLUSD,BNBUSD',
  intervalMs: 15_000,
  read(reply) {
    const { error, result = {} } = ticker.parse(reply);
    if (error.length > 0) throw new Error('The reply is an error');
    return {
      quotes: Object.entries(result).flatMap(([pair, { a, b }]) => {
        const currency = currencies[pair];
        const price = middle(b[0] ?? '', a[0] ?? '');
        return currency && price ? [{ currency, price, quotedIn: 'USD' }] : [];
      }),
    };
  },
};
