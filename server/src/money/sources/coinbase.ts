/**
 * Coinbase, https://docs.cdp.coinbase.com/coinbase-app/track-apis/exchange-rates
 *
 * `GET /v2/exchange-rates?currency=USD` answers
 * `{"data":{"currency":"USD","rates":{"BTC":"0.0000108","EUR":"0.92","NGN":"1540.1",…}}}`: how much of each currency,
 * fiat or crypto, one dollar buys.
 */
import * as z from 'zod/mini';
import { inverse, parsePositive } from '../fractions.js';
import type { RateSourceAdapter } from './source.js';

const exchangeRates = z.object({
  data: z.object({ currency: z.literal('USD'), rates: z.record(z.string(), z.string()) }),
});

export const coinbase: RateSourceAdapter = {
  name: 'coinbase',
  dollarPrices: 'all',
  url: 'https://api.coinbase.com',
  path: '/v2/exchange-rates?currency=USD',
  intervalMs: 15_000,
  read(reply) {
    const { rates } = exchangeRates.parse(reply).data;
    return {
      quotes: Object.entries(rates).flatMap(([currency, unitsPerDollar]) => {
        const units = parsePositive(unitsPerDollar);
        return units ? [{ currency, price: inverse(units), quotedIn: 'USD' }] : [];
      }),
    };
  },
};
