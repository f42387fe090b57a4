/** Local servers that answer like the sources of exchange rates, in their documented forms, or misbehave. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseSources } from '../../src/core/money/sources/sources.js';
import type { RateSourceAdapter } from '../../src/core/money/sources/source.js';
import { coins } from '../support/coins.js';

/** Dollars per coin, and units per dollar of fiat currencies, as text. */
export interface Market {
  readonly crypto: Readonly<Record<string, string>>;
  readonly fiat: Readonly<Record<string, string>>;
}

type ByCode = Readonly<Record<string, string>>;

const documented: ByCode = {
  BTC: '92000',
  ETH: '3050',
  BNB: '905',
  LTC: '95',
  TRX: '0.285',
  POL: '0.145',
  USDT: '0.999',
  USDC: '1.0001',
};
/** Coins that are only in `server/data/currencies.json` have their price and their names from there. */
const others = Object.entries(coins).filter(([code]) => !(code in documented));

export const market: Market = {
  crypto: {
    ...documented,
    ...Object.fromEntries(others.map(([code, { exampleDollars }]) => [code, exampleDollars])),
  },
  fiat: { EUR: '0.86', GBP: '0.75', NGN: '1540', GHS: '10.9', KES: '129.2', ZAR: '17.2' },
};

const othersAt = (exchange: string, nameOf: (symbol: string) => string): ByCode =>
  Object.fromEntries(
    others.flatMap(([code, { symbols }]) => {
      const symbol = symbols[exchange];
      return symbol === undefined ? [] : [[code, nameOf(symbol)] as const];
    }),
  );

const krakenPairs: ByCode = {
  BTC: 'XXBTZUSD',
  ETH: 'XETHZUSD',
  LTC: 'XLTCZUSD',
  USDT: 'USDTZUSD',
  USDC: 'USDCUSD',
  TRX: 'TRXUSD',
  POL: 'POLUSD',
  BNB: 'BNBUSD',
  ...othersAt('kraken', (symbol) => `${symbol}USD`),
};
const binanceSymbols: ByCode = {
  BTC: 'BTCUSDT',
  ETH: 'ETHUSDT',
  BNB: 'BNBUSDT',
  LTC: 'LTCUSDT',
  TRX: 'TRXUSDT',
  POL: 'POLUSDT',
  USDC: 'USDCUSDT',
  ...othersAt('binance', (symbol) => `${symbol}USDT`),
};
const coingeckoIds: ByCode = {
  BTC: 'bitcoin',
  ETH: 'ethereum',
  LTC: 'litecoin',
  BNB: 'binancecoin',
  TRX: 'tron',
  POL: 'polygon-ecosystem-token',
  USDT: 'tether',
  USDC: 'usd-coin',
  ...othersAt('coingecko', (symbol) => symbol),
};

/** The prices of the coins that an exchange trades, by their names there. */
const pricesAt = (names: ByCode, crypto: ByCode): ByCode =>
  Object.fromEntries(
    Object.entries(crypto).flatMap(([code, price]) => {
      const name = names[code];
      return name === undefined ? [] : [[name, price] as const];
    }),
  );

/** JSON in which these texts are numbers. */
const numbers = (json: string) => json.replace(/"#([^"]+)"/g, '$1');

const mapObject = <T>(
  values: Readonly<Record<string, string>>,
  entry: (code: string, value: string) => [string, T],
) => JSON.stringify(Object.fromEntries(Object.entries(values).map(([code, value]) => entry(code, value))));

/** The documented replies. @param seconds the time, for sources that say it */
export const replies: Readonly<Record<string, (prices: Market, seconds: number) => string>> = {
  kraken: ({ crypto }) =>
    `{"error":[],"result":${mapObject(pricesAt(krakenPairs, crypto), (pair, price) => [
      pair,
      {
        a: [price, '1', '1.000'],
        b: [price, '2', '2.000'],
        c: [price, '0.1'],
        v: ['1', '2'],
        p: [price, price],
        t: [1, 2],
        l: [price, price],
        h: [price, price],
        o: price,
      },
    ])}}`,
  coinbase: ({ crypto, fiat }) =>
    `{"data":{"currency":"USD","rates":${JSON.stringify({
      ...Object.fromEntries(
        Object.entries(crypto).map(([code, price]) => [code, (1 / Number(price)).toFixed(16)]),
      ),
      ...fiat,
      XYZ: '0.0',
    })}}}`,
  binance: ({ crypto }) =>
    `[${Object.entries(pricesAt(binanceSymbols, crypto))
      .map(([symbol, price]) => {
        const inUsdt = (Number(price) / Number(crypto['USDT'])).toFixed(8);
        return JSON.stringify({
          symbol,
          bidPrice: inUsdt,
          bidQty: '1.0',
          askPrice: inUsdt,
          askQty: '1.0',
        });
      })
      .join(',')}]`,
  bitstamp: ({ crypto }, seconds) =>
    JSON.stringify(
      Object.entries(crypto).map(([code, price]) => ({
        pair: `${code}/USD`,
        bid: price,
        ask: price,
        last: price,
        timestamp: String(seconds),
        volume: '12.5',
      })),
    ),
  coingecko: ({ crypto }, seconds) =>
    numbers(
      mapObject(pricesAt(coingeckoIds, crypto), (id, price) => [
        id,
        { usd: `#${price}`, last_updated_at: `#${seconds}` },
      ]),
    ),
  'er-api': ({ fiat }, seconds) =>
    numbers(
      JSON.stringify({
        result: 'success',
        provider: 'https://www.exchangerate-api.com',
        time_last_update_unix: `#${seconds}`,
        time_next_update_unix: `#${seconds + 86_400}`,
        time_eol_unix: 0,
        base_code: 'USD',
        rates: Object.fromEntries(Object.entries({ USD: '1', ...fiat }).map(([c, v]) => [c, `#${v}`])),
      }),
    ),
};

/** The reply of a source when it is asked. */
export type Behavior = (response: ServerResponse, request: IncomingMessage) => void;

export interface Exchanges {
  /** The sources, in the order of their names, with the URLs of these servers. */
  adapters(...names: string[]): RateSourceAdapter[];
  /** The value of `RATES` for these sources. */
  setting(...names: string[]): string;
  answer(name: string, behavior: Behavior): void;
  /** Answers in the documented form. */
  quote(name: string, prices?: Market, seconds?: number): void;
  /** The number of requests to a source. */
  asked(name: string): number;
  close(): Promise<void>;
}

/** All sources, on one port: each under a path of its own. */
export async function openExchanges(): Promise<Exchanges> {
  const behaviors = new Map<string, Behavior>();
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const name = request.url?.split('/')[1] ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const behavior = behaviors.get(name);
    if (behavior) behavior(response, request);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const setting = (...names: string[]) =>
    names.map((name) => `${name}=http://127.0.0.1:${port}/${name}`).join(',');
  const exchanges: Exchanges = {
    setting,
    adapters(...names) {
      const adapters = parseSources(setting(...names));
      if (!adapters) throw new Error(`These are not enough sources: ${names.join(', ')}`);
      return adapters;
    },
    answer: (name, behavior) => void behaviors.set(name, behavior),
    quote(name, prices = market, seconds = Math.floor(Date.now() / 1000)) {
      const body = replies[name]?.(prices, seconds) ?? '';
      behaviors.set(name, (response) => response.setHeader('Content-Type', 'application/json').end(body));
    },
    asked: (name) => counts.get(name) ?? 0,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  for (const name of Object.keys(replies)) exchanges.quote(name);
  return exchanges;
}
