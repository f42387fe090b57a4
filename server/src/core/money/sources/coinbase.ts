/**
 * Coinbase, https://docs.cdp.coinbase.com/coinbase-app/track-apis/exchange-rates
 *
 * `GET /v2/exchange-rates?currency=USD` answers
 * `{"data":{"currency":"USD","rates":{"BTC":"0.0000108","EUR":"0.92","NGN":"1540.1",…}}}`: how much of each currency,
 * fiat or crypto, one dollar buys.
 */
import * as z from 'zod/mini';
import { dollarsOf, type RateSourceAdapter } from './source.js';

const exchangeRates = z.object({
  data: z.object({ currency: z.literal('USD'), rates: z.record(z.string(), z.unknown()) }),
});

export const coinbase: RateSourceAdapter = {
  name: 'coinbase',
  dollarPrices: 'all',
  url: 'https://api.coinbase.com',
  markets: [],
  path: () => '/v2/exchange-rates?currency=USD',
  intervalMs: 15_000,
  read(reply) {
    const { rates } = exchangeRates.parse(reply).data;
    return {
      readings: Object.entries(rates).map(([currency, unitsPerDollar]) => ({
        ...dollarsOf(unitsPerDollar),
        market: currency,
        currency,
        quotedIn: 'USD',
      })),
    };
  },
};
