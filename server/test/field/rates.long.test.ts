/**
 * Real answers of exchanges: one market that is halted, delisted, empty or unknown, in the shapes of public reports. It
 * costs its own price, and no other. Each case names its report.
 */
import pino from 'pino';
import { ApiError, createCheckoutClient } from 'crypto-checkout/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { currencies } from '../../src/core/money/currency-list.js';
import { createWorldRates, type WorldRates } from '../../src/core/money/world-rates.js';
import { market, openExchanges, replies, type Behavior, type Exchanges } from '../money/exchanges.js';
import { coins } from '../support/coins.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfSoak } from '../support/engines.js';
import { startServer } from '../support/server.js';

const all = ['kraken', 'coinbase', 'binance', 'bitstamp', 'coingecko', 'er-api'];
const codes = Object.keys(market.crypto);

let exchanges: Exchanges;
let time: number;
let lines: { readonly msg: string; readonly source?: string; readonly market?: string }[];
let rates: WorldRates;

beforeEach(async () => {
  exchanges = await openExchanges();
  time = Date.now();
  lines = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) });
  rates = createWorldRates({ adapters: exchanges.adapters(...all), currencies, now: () => time, log });
});
afterEach(() => exchanges.close());

const refresh = () => rates.refresh(new AbortController().signal);
const sourcesOf = (code: string) => rates.latest(code)?.source.replace('median of ', '').split(', ') ?? [];
const problemOf = (name: string) => rates.sources().find((source) => source.name === name)?.problem;
const logged = (name: string) => lines.filter(({ source }) => source === name);

type Json = Record<string, unknown>;

/** The documented reply of a source at the test's time, as JSON. */
const documented = (name: string): unknown =>
  JSON.parse(replies[name]?.(market, Math.floor(time / 1000)) ?? '');
const answer = (name: string, reply: unknown) =>
  exchanges.answer(name, (response) => response.end(JSON.stringify(reply)));

/** A source that answers nothing at all if it is asked for a market that it does not know, as Kraken and Binance do. */
function knows(name: 'kraken' | 'binance', known: () => readonly string[], asked: string[][] = []): Behavior {
  return (response, { url = '' }) => {
    const { searchParams } = new URL(url, 'http://127.0.0.1');
    const names =
      name === 'kraken'
        ? (searchParams.get('pair') ?? '').split(',')
        : (JSON.parse(searchParams.get('symbols') ?? '[]') as string[]);
    asked.push(names);
    if (!names.every((one) => known().includes(one))) {
      if (name === 'kraken') response.end('{"error":["EQuery:Unknown asset pair"]}');
      else response.writeHead(400).end('{"code":-1121,"msg":"Invalid symbol."}');
      return;
    }
    const isAsked = (code: string) => names.includes(marketAt(name, code));
    const crypto = Object.fromEntries(
      Object.entries(market.crypto).filter(
        ([code]) => isAsked(code) || (name === 'binance' && code === 'USDT'),
      ),
    );
    response.end(replies[name]?.({ ...market, crypto }, 0));
  };
}
const marketAt = (name: 'kraken' | 'binance', code: string) =>
  `${coins[code]?.symbols[name] ?? 'none'}${name === 'kraken' ? 'USD' : 'USDT'}`;
/** Coinbase and Bitstamp list all coins. The others are asked for those that they trade. */
const tradedAt = (name: string) =>
  codes.filter((code) => ['coinbase', 'bitstamp'].includes(name) || coins[code]?.symbols[name] !== undefined);
const krakenPairs = tradedAt('kraken').map((code) => marketAt('kraken', code));
const binanceSymbols = tradedAt('binance').map((code) => marketAt('binance', code));

/** Every way in which a source can send a market without a usable price. */
const prices: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['"0"', '0'],
  ['0', 0],
  ['"0.00000000"', '0.00000000'],
  ['a negative price', '-92000'],
  ['"NaN"', 'NaN'],
  ['"error"', 'error'],
  ['""', ''],
  ['true', true],
  ['an object', { amount: '92000' }],
  ['a list', ['92000']],
];

/** Puts a value in the place of LTC's price. */
const withPrice: Readonly<Record<string, (value: unknown) => unknown>> = {
  kraken(value) {
    const reply = documented('kraken') as { result: Record<string, Json> };
    return {
      ...reply,
      result: { ...reply.result, XLTCZUSD: { a: [value, '1', '1'], b: [value, '1', '1'] } },
    };
  },
  coinbase(value) {
    const { data } = documented('coinbase') as { data: { rates: Json } };
    return { data: { ...data, rates: { ...data.rates, LTC: value } } };
  },
  binance: (value) =>
    (documented('binance') as Json[]).map((one) =>
      one['symbol'] === 'LTCUSDT' ? { ...one, bidPrice: value, askPrice: value } : one,
    ),
  bitstamp: (value) =>
    (documented('bitstamp') as Json[]).map((one) =>
      one['pair'] === 'LTC/USD' ? { ...one, bid: value, ask: value, last: value } : one,
    ),
  coingecko: (value) => ({
    ...(documented('coingecko') as Json),
    litecoin: { usd: value, last_updated_at: Math.floor(time / 1000) },
  }),
};
const names: Readonly<Record<string, string>> = {
  kraken: 'LTCUSD',
  coinbase: 'LTC',
  binance: 'LTCUSDT',
  bitstamp: 'LTC/USD',
  coingecko: 'litecoin',
};

describe.each(Object.keys(withPrice))('%s', (name) => {
  const others = tradedAt(name).filter((code) => code !== 'LTC');

  /** The consequences when LTC's market is out at this source. */
  async function expectOnlyLtcOut(problem: string | RegExp): Promise<void> {
    await refresh();
    for (const code of others) expect(sourcesOf(code), code).toContain(name);
    expect(sourcesOf('LTC')).not.toContain(name);
    expect(sourcesOf('LTC').length).toBeGreaterThanOrEqual(3);
    expect(problemOf(name)).toBeUndefined();
    expect(rates.marketsOut()).toEqual([
      { source: name, market: names[name], problem: expect.stringMatching(problem) as unknown },
    ]);
    await refresh();
    expect(logged(name).map(({ msg, market: which }) => [msg, which])).toEqual([
      ['A market of a source of exchange rates is left out; the others of the source count', names[name]],
    ]);
  }

  // ccxt#2319 and watchmarket#22: a null or empty price of one coin. astar-token-api#147: CoinGecko knows a coin and has no price for it.
  it.each(prices)('%s as the price of one market costs only that market', async (_, value) => {
    answer(name, withPrice[name]?.(value));
    await expectOnlyLtcOut('it has no price');
  });

  it('A market counts again when it has a price', async () => {
    answer(name, withPrice[name]?.(null));
    await refresh();
    exchanges.quote(name);
    time += 31_000;
    for (const other of all.filter((one) => one !== name)) {
      exchanges.quote(other, market, Math.floor(time / 1000));
    }
    if (name === 'bitstamp' || name === 'coingecko') exchanges.quote(name, market, Math.floor(time / 1000));
    await refresh();
    expect(sourcesOf('LTC')).toContain(name);
    expect(rates.marketsOut()).toEqual([]);
    expect(logged(name).at(-1)?.msg).toBe('A market of a source of exchange rates counts again');
  });

  // The whole entry is something else, or is gone (ccxt#20679, btcpayserver#328).
  it.each([
    ['a string', 'error'],
    ['null', null],
    ['an empty object', {}],
    ['a list', []],
  ])('%s in the place of a whole market costs only that market', async (_, entry) => {
    if (name === 'coinbase') answer(name, withPrice[name]?.(entry));
    else if (name === 'kraken') {
      const reply = documented('kraken') as { result: Json };
      answer(name, { ...reply, result: { ...reply.result, XLTCZUSD: entry } });
    } else if (name === 'coingecko') answer(name, { ...(documented(name) as Json), litecoin: entry });
    else {
      // The entry has no name then: the market is missing.
      await refresh();
      time += 31_000;
      exchanges.quote('coingecko', market, Math.floor(time / 1000));
      exchanges.quote('bitstamp', market, Math.floor(time / 1000));
      const key = name === 'binance' ? 'symbol' : 'pair';
      answer(
        name,
        (documented(name) as Json[]).map((one) => (one[key] === names[name] ? entry : one)),
      );
    }
    await expectOnlyLtcOut(/it has no price|it is not in the reply/);
  });

  it('markets that nobody asked for, and malformed ones among them, change nothing', async () => {
    // binance-java-api#9: symbols "123456" and "ETC". btcpayserver#6577: a pair of an unknown coin. ccxt#15785: a market that is in no list.
    const strange = { symbol: '123456', pair: 'ETC', bid: null, ask: 'x', bidPrice: [], askPrice: {} };
    const reply = documented(name) as object;
    const extra = { 123456: null, FARTCOINUSDC: {}, bitcoin2: 'error', '': [], __proto__: null, status: {} };
    if (Array.isArray(reply)) answer(name, [strange, null, 7, 'x', [], ...(reply as Json[])]);
    else if (name === 'kraken') {
      const { result } = reply as { result: Json };
      answer(name, { error: [], result: { ...extra, ...result } });
    } else if (name === 'coinbase') {
      const { data } = reply as { data: { rates: Json } };
      answer(name, { data: { ...data, rates: { ...extra, ...data.rates } } });
    } else answer(name, { ...extra, ...(reply as Json) });
    await refresh();
    for (const code of [...others, 'LTC']) expect(sourcesOf(code), code).toContain(name);
    expect(rates.marketsOut()).toEqual([]);
  });
});

describe('A market that makes its source refuse all of them', () => {
  const cases = [
    // ccxt#3632, btcpayserver#4027: Kraken answers no pair at all because of one.
    ['kraken', krakenPairs, 'POLUSD', 'POL', 'It answered EQuery:Unknown asset pair'],
    // ccxt#29971, ccxt/binance-trade-bot#334: HTTP 400 with -1121 for the whole list.
    ['binance', binanceSymbols, 'POLUSDT', 'POL', 'It answered HTTP 400'],
  ] as const;

  it.each(cases)(
    'A market that makes %s refuse all of them is left out, and the others keep their prices',
    async (name, list, gone, code, why) => {
      exchanges.answer(
        name,
        knows(name, () => list.filter((one) => one !== gone)),
      );
      await refresh();
      for (const other of tradedAt(name).filter((one) => one !== code)) {
        expect(sourcesOf(other), other).toContain(name);
      }
      expect(sourcesOf(code)).toHaveLength(4);
      expect(problemOf(name)).toBeUndefined();
      expect(rates.marketsOut()).toEqual([{ source: name, market: gone, problem: why }]);
    },
  );

  it.each(cases)(
    'A market that makes %s refuse all of them is asked for separately, and more and more rarely',
    async (name, list, gone, code) => {
      const known = new Set<string>(list.filter((one) => one !== gone));
      const asked: string[][] = [];
      exchanges.answer(
        name,
        knows(name, () => [...known], asked),
      );
      await refresh();
      // Halves, quarters, and so on: far fewer than one request for each market twice.
      expect(asked.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(list.length)) + 2);
      asked.length = 0;
      for (let minute = 0; minute < 120; minute += 5) {
        time += 300_000;
        await refresh();
      }
      const whole = asked.filter((one) => one.length === list.length - 1);
      const alone = asked.filter((one) => one.length === 1);
      expect(whole).toHaveLength(24);
      expect(alone.every(([one]) => one === gone)).toBe(true);
      expect([whole.length + alone.length, alone.length]).toEqual([asked.length, 4]);

      known.add(gone);
      for (let minute = 0; minute <= 60; minute += 5) {
        time += 300_000;
        await refresh();
      }
      exchanges.quote('bitstamp', market, Math.floor(time / 1000));
      exchanges.quote('coingecko', market, Math.floor(time / 1000));
      time += 31_000;
      await refresh();
      expect(sourcesOf(code)).toContain(name);
      expect(rates.marketsOut().filter(({ source }) => source === name)).toEqual([]);
      expect([...(asked.at(-1) ?? [])].sort()).toEqual([...list].sort());
    },
  );

  it('Two unknown markets in different halves of a request cost only those two', async () => {
    exchanges.answer(
      'kraken',
      knows('kraken', () => krakenPairs.filter((one) => one !== 'XBTUSD' && one !== 'BNBUSD')),
    );
    await refresh();
    expect(rates.marketsOut().map(({ market: which }) => which)).toEqual(['XBTUSD', 'BNBUSD']);
    for (const code of ['ETH', 'LTC', 'USDT', 'USDC', 'TRX', 'POL'])
      expect(sourcesOf(code)).toContain('kraken');
  });

  it('A source that refuses all of its markets fails, and is not asked again at every refresh', async () => {
    const asked: string[][] = [];
    exchanges.answer(
      'binance',
      knows('binance', () => [], asked),
    );
    await refresh();
    expect(problemOf('binance')).toBe('It refuses all of its markets: It answered HTTP 400');
    const first = asked.length;
    for (let round = 0; round < 3; round += 1) {
      time += 15_000;
      await refresh();
    }
    expect(asked).toHaveLength(first);
    expect(rates.latest('BTC')?.source).toContain('kraken');
  });

  it('A limit during the search for an unknown market ends the search, and the next refresh finds the market', async () => {
    const asked: string[][] = [];
    const refusing = knows('kraken', () => krakenPairs.filter((one) => one !== 'XBTUSD'), asked);
    exchanges.answer('kraken', (response, request) => {
      if (asked.length < 4) refusing(response, request);
      else response.writeHead(429, { 'Retry-After': '30' }).end();
    });
    await refresh();
    expect(problemOf('kraken')).toBe('It answered HTTP 429');
    exchanges.answer('kraken', refusing);
    time += 31_000;
    await refresh();
    expect(problemOf('kraken')).toBeUndefined();
    expect(rates.marketsOut().filter(({ source }) => source === 'kraken')).toHaveLength(1);
  });
});

describe('A listed market without a meaningful price', () => {
  const crossed = { a: ['94.9', '1', '1'], b: ['95.1', '1', '1'] };

  // btcpayserver#6022: "the bid should be lower than ask" took all of Kraken away.
  it.each([
    ['crossed offers', crossed, 'its bid is above its ask'],
    [
      'offers that are far apart',
      { a: ['190', '1', '1'], b: ['95', '1', '1'] },
      'its bid and its ask are more than 2 % apart',
    ],
    [
      'an absurd ask',
      { a: ['99999999999', '1', '1'], b: ['95', '1', '1'] },
      'its bid and its ask are more than 2 % apart',
    ],
    ['only one side', { b: ['95', '1', '1'] }, 'it has no price'],
    ['no offers', { a: [], b: [] }, 'it has no price'],
  ])('A market with %s is left out, and no other', async (_, offers, problem) => {
    const reply = documented('kraken') as { result: Json };
    answer('kraken', { ...reply, result: { ...reply.result, XLTCZUSD: offers } });
    await refresh();
    expect(sourcesOf('BTC')).toContain('kraken');
    expect(sourcesOf('LTC')).not.toContain('kraken');
    expect(rates.marketsOut()).toEqual([{ source: 'kraken', market: 'LTCUSD', problem }]);
  });

  // A halted market keeps the time of its last trade. ccxt#4490: two markets without a time.
  it.each([
    ['of an hour ago', () => Math.floor(time / 1000) - 3600, /^its price is of 20/],
    ['missing', () => undefined, /^its price has no time$/],
    ['null', () => null, /^its price has no time$/],
    ['a word', () => 'halted', /^its price has no time$/],
  ])('a price whose time is %s does not count', async (_, at, problem) => {
    answer(
      'bitstamp',
      (documented('bitstamp') as Json[]).map((one) =>
        one['pair'] === 'LTC/USD' ? { ...one, timestamp: at()?.toString() } : one,
      ),
    );
    answer('coingecko', {
      ...(documented('coingecko') as Json),
      litecoin: { usd: 95, last_updated_at: at() },
    });
    await refresh();
    expect(sourcesOf('BTC')).toEqual(expect.arrayContaining(['bitstamp', 'coingecko']));
    expect(sourcesOf('LTC')).toEqual(['kraken', 'coinbase', 'binance']);
    expect(rates.marketsOut()).toEqual([
      { source: 'bitstamp', market: 'LTC/USD', problem: expect.stringMatching(problem) as unknown },
      { source: 'coingecko', market: 'litecoin', problem: expect.stringMatching(problem) as unknown },
    ]);
  });

  // GLEECBTC/coins#895, btcpayserver#5550: a delisted market stays in the list for years, with its last price.
  it('a price that the others contradict does not count, and is named', async () => {
    answer('binance', withPrice['binance']?.('61.2'));
    await refresh();
    expect(sourcesOf('LTC')).not.toContain('binance');
    expect(rates.marketsOut()).toEqual([
      { source: 'binance', market: 'LTCUSDT', problem: 'the other sources contradict its price' },
    ]);
  });

  it('a market that was in the replies and is gone is named', async () => {
    await refresh();
    time += 16_000;
    answer(
      'bitstamp',
      (documented('bitstamp') as Json[]).filter((one) => one['pair'] !== 'LTC/USD'),
    );
    await refresh();
    expect(sourcesOf('LTC')).not.toContain('bitstamp');
    expect(sourcesOf('BTC')).toContain('bitstamp');
    expect(rates.marketsOut()).toEqual([
      { source: 'bitstamp', market: 'LTC/USD', problem: 'it is not in the reply' },
    ]);
  });
});

describe('Fiat currencies', () => {
  it.each(prices)('%s as one currency costs only that currency', async (_, value) => {
    const reply = documented('er-api') as { rates: Json };
    answer('er-api', { ...reply, rates: { ...reply.rates, NGN: value } });
    await refresh();
    expect(sourcesOf('EUR')).toEqual(['coinbase', 'er-api']);
    expect(rates.latest('NGN')?.source).toMatch(/^only coinbase, /);
    expect(problemOf('er-api')).toBeUndefined();
    expect(rates.marketsOut()).toEqual([{ source: 'er-api', market: 'NGN', problem: 'it has no price' }]);
  });

  it('Fiat rates are known even without the time of the next ones', async () => {
    const { time_next_update_unix: _next, ...reply } = documented('er-api') as Json;
    answer('er-api', reply);
    await refresh();
    expect(sourcesOf('NGN')).toEqual(['coinbase', 'er-api']);
  });
});

describe('A source that fails as a whole says why in its own documented words', () => {
  it.each([
    // btcpayserver#7153: 403 from one day to the next.
    ['HTTP 403', (response) => response.writeHead(403).end('{}'), 'It answered HTTP 403'],
    [
      'an error as text',
      (response) => response.end('{"error":"EService:Unavailable"}'),
      'It answered EService:Unavailable',
    ],
    [
      'an error in a list',
      (response) => response.end('{"error":["EService:Busy"],"result":null}'),
      'It did not answer in the documented form',
    ],
    [
      'the words of a stranger',
      (response) => response.end('{"error":["http://x/ <b>"]}'),
      'It did not answer in the documented form',
    ],
    ['text', (response) => response.end('"error"'), 'It did not answer in the documented form'],
  ] satisfies [string, Behavior, string][])(
    'A source that answers with %s fails as a whole, with the reason in documented words',
    async (_, behavior, problem) => {
      exchanges.answer('kraken', behavior);
      await refresh();
      expect(problemOf('kraken')).toBe(problem);
      expect(sourcesOf('BTC')).toEqual(['coinbase', 'binance', 'bitstamp', 'coingecko']);
    },
  );
});

describe.each(enginesOfSoak)('On $name, a server with two such events', (engine) => {
  it('A server with two lost markets locks payments in the other coins, and shows which are out and why', async () => {
    // The sources of many shops: with both of these lost, no two were left that agree on anything.
    exchanges.answer(
      'kraken',
      knows('kraken', () => krakenPairs.filter((one) => one !== 'POLUSD')),
    );
    answer(
      'bitstamp',
      (documented('bitstamp') as Json[]).map((one) =>
        one['pair'] === 'TRX/USD' ? { ...one, bid: null } : one,
      ),
    );
    const token = 'scrape-me-0123456789';
    const { app, database, api, url, publicKey, stop } = await startServer({
      engine,
      env: { RATES: exchanges.setting('kraken', 'bitstamp'), METRICS_TOKEN: token },
    });
    try {
      const checkout = createCheckoutClient({ apiUrl: url, publicKey });
      const lock = async (currency: string, network: string) => {
        const made = await api('POST', '/v1/payments/checkout', {
          body: { amount: 10, baseCurrency: 'USD' },
        });
        const { id } = made.body.data['payment'] as { id: string };
        const chosen = await checkout.setCurrency(id, currency, network).catch((error: unknown) => error);
        if (chosen instanceof ApiError) return chosen.status;
        return checkout.lockCurrency(id).then(
          () => 200,
          (error: unknown) => (error instanceof ApiError ? error.status : error),
        );
      };
      await vi.waitFor(async () => expect(await lock('ETH', 'ethereum')).toBe(200), 20_000);
      expect(await lock('BTC', 'bitcoin')).toBe(200);
      expect(await lock('LTC', 'litecoin')).toBe(200);
      // Only Bitstamp knows it.
      expect(await lock('POL', 'polygon')).toBe(503);

      const scrape = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
      const metrics = await scrape.text();
      expect(metrics).toContain('checkout_rate_market_out{source="kraken",market="POLUSD"} 1');
      expect(metrics).toContain('checkout_rate_market_out{source="bitstamp",market="TRX/USD"} 1');
      expect(metrics).toContain('checkout_rate_source_failing{source="kraken"} 0');
      const context = commandContext({ app, database });
      const status = await runWith(context, 'chains status');
      expect(status.text.split('\n')).toEqual(
        expect.arrayContaining([
          'exchange rates  kraken  POLUSD  It answered EQuery:Unknown asset pair',
          'exchange rates  bitstamp  TRX/USD  it has no price',
        ]),
      );
      const shown = await runWith(context, 'rates show');
      expect(shown.text).toContain('kraken     POLUSD: It answered EQuery:Unknown asset pair');
    } finally {
      await stop();
    }
  });
});
