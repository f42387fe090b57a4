/**
 * Binance, https://developers.binance.com/docs/binance-spot-api-docs/rest-api/market-data-endpoints
 *
 * `GET /api/v3/ticker/bookTicker?symbols=["BTCUSDT",…]` answers
 * `[{"symbol":"BTCUSDT","bidPrice":"4.00000000","bidQty":"431.00000000","askPrice":"4.00000200","askQty":"9.00000000"},…]`.
 * Its markets are in USDT.
 */
import * as z from 'zod/mini';
import { middle, type RateSourceAdapter } from './source.js';

const bookTicker = z.array(z.object({ symbol: z.string(), bidPrice: z.string(), askPrice: z.string() }));

const currencies = ['BTC', 'ETH', 'LTC', 'BNB', 'TRX', 'POL', 'USDC'];
const symbols = JSON.stringify(currencies.map((currency) => `${currency}USDT`));

export const binance: RateSourceAdapter = {
  name: 'binance',
  dollarPrices: 'none',
  // The same market data as api.binance.com, without an account, and where that one is not reachable.
  url: 'https://data-api.binance.vision',
  path: `/api/v3/ticker/bookTicker?symbols=${encodeURIComponent(symbols)}`,
  intervalMs: 15_000,
  read(reply) {
    return {
      quotes: bookTicker.parse(reply).flatMap(({ symbol, bidPrice, askPrice }) => {
        const currency = currencies.find((code) => symbol === `${code}USDT`);
        const price = middle(bidPrice, askPrice);
        return currency && price ? [{ currency, price, quotedIn: 'USDT' }] : [];
      }),
    };
  },
};
