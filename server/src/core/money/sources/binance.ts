/**
 * Binance, https://developers.binance.com/docs/binance-spot-api-docs/rest-api/market-data-endpoints
 *
 * `GET /api/v3/ticker/bookTicker?symbols=["BTCUSDT",…]` answers
 * `[{"symbol":"BTCUSDT","bidPrice":"4.00000000","bidQty":"431.00000000","askPrice":"4.00000200","askQty":"9.00000000"},…]`.
 * Its markets are in USDT. A halted one has offers of 0. One unknown symbol, and the answer is HTTP 400 with
 * `{"code":-1121,"msg":"Invalid symbol."}`, which does not say which.
 */
import * as z from 'zod/mini';
import { symbolsOf } from '../currency-list.js';
import { fieldsOf, middle, type RateSourceAdapter } from './source.js';

const bookTicker = z.array(z.unknown());

const markets = symbolsOf('binance').map(({ currency, symbol }) => ({ currency, market: `${symbol}USDT` }));

export const binance: RateSourceAdapter = {
  name: 'binance',
  dollarPrices: 'none',
  // Has the market data of api.binance.com, needs no account, and is reachable where that host is not.
  url: 'https://data-api.binance.vision',
  markets: markets.map(({ market }) => market),
  path: (symbols) => `/api/v3/ticker/bookTicker?symbols=${encodeURIComponent(JSON.stringify(symbols))}`,
  intervalMs: 15_000,
  read(reply) {
    return {
      readings: bookTicker.parse(reply).flatMap((ticker) => {
        const { symbol, bidPrice, askPrice } = fieldsOf(ticker);
        const known = markets.find(({ market }) => market === symbol);
        return known ? [{ ...middle(bidPrice, askPrice), ...known, quotedIn: 'USDT' }] : [];
      }),
    };
  },
};
