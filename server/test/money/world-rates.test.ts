/** Exchange rates from several sources that answer as documented, fail, lag, send wrong prices, or return garbage. */
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agreeing, median } from '../../src/core/money/agreement.js';
import { currencies } from '../../src/core/money/currency-list.js';
import { convert, type Rate } from '../../src/core/money/rates.js';
import { parseSources } from '../../src/core/money/sources/sources.js';
import { parsePositive } from '../../src/core/money/fractions.js';
import { parseExactJson } from '../../src/core/money/sources/source.js';
import { createWorldRates, type WorldRates } from '../../src/core/money/world-rates.js';
import { coins } from '../support/coins.js';
import { market, openExchanges, type Exchanges, type Market } from './exchanges.js';

const all = ['kraken', 'coinbase', 'binance', 'bitstamp', 'coingecko', 'er-api'];

let exchanges: Exchanges;
let time: number;
let lines: { readonly level: number; readonly msg: string; readonly source?: string }[];
let rates: WorldRates;
/** Long enough for a busy machine. */
let timeoutMs: number;

function openRates(...names: string[]): WorldRates {
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const adapters = exchanges.adapters(...names);
  return createWorldRates({ adapters, currencies, now: () => time, log, timeoutMs });
}

const refresh = () => rates.refresh(new AbortController().signal);
const seconds = () => Math.floor(time / 1000);
const priced = (changes: Readonly<Record<string, string>>): Market => ({
  ...market,
  crypto: { ...market.crypto, ...changes },
});
const dollars = (code: string): number | undefined => {
  const rate = rates.latest(code);
  return rate && Number(rate.numerator) / Number(rate.denominator);
};
const rateOf = (code: string): Rate => {
  const rate = rates.latest(code);
  if (!rate) throw new Error(`No rate for ${code}`);
  return rate;
};
const sourcesOf = (code: string) => rates.latest(code)?.source.replace('median of ', '').split(', ');
const problemOf = (name: string) => rates.sources().find((source) => source.name === name)?.problem;

beforeEach(async () => {
  exchanges = await openExchanges();
  time = Date.now();
  lines = [];
  timeoutMs = 10_000;
  rates = openRates(...all);
});
afterEach(() => exchanges.close());

describe('Sources that answer as documented', () => {
  it('All coins and fiat currencies get the rate that all of their sources give', async () => {
    await refresh();
    expect(rates.sources().map(({ name, problem }) => [name, problem])).toEqual(
      all.map((name) => [name, undefined]),
    );
    for (const [code, price] of Object.entries(market.crypto)) {
      expect(dollars(code)).toBeCloseTo(Number(price), 6);
      // Coinbase and Bitstamp list all coins without being asked for each.
      const asked = Object.keys(coins[code]?.symbols ?? {});
      expect(sourcesOf(code)?.toSorted()).toEqual(['bitstamp', 'coinbase', ...asked].toSorted());
    }
    for (const [code, units] of Object.entries(market.fiat)) {
      expect(dollars(code)).toBeCloseTo(1 / Number(units), 9);
      expect(sourcesOf(code)).toEqual(['coinbase', 'er-api']);
    }
    expect(dollars('USD')).toBe(1);
  });

  it('A stablecoin costs what it costs, and prices in USDT are converted at its price', async () => {
    const depegged = priced({ USDT: '0.9', USDC: '1.1' });
    for (const name of all) exchanges.quote(name, depegged, seconds());
    await refresh();
    expect(dollars('USDT')).toBeCloseTo(0.9, 9);
    expect(dollars('USDC')).toBeCloseTo(1.1, 9);
    const btc = rates.prices('BTC').find(({ source }) => source === 'binance');
    expect(Number(btc?.price.numerator) / Number(btc?.price.denominator)).toBeCloseTo(92_000, 0);
  });

  it('Every digit of a price counts: no price goes through a float', async () => {
    const price = '92000.123456789012345678901';
    exchanges.quote('kraken', priced({ BTC: price }));
    exchanges.quote('coingecko', priced({ BTC: price }), seconds());
    rates = openRates('kraken', 'coingecko');
    await refresh();
    const { numerator, denominator } = rateOf('BTC');
    expect(numerator * 10n ** 21n).toBe(92000123456789012345678901n * denominator);
  });

  it('The rate of two sources is the middle, exactly', async () => {
    exchanges.quote('kraken', priced({ BTC: '92000' }));
    exchanges.quote('coingecko', priced({ BTC: '92001' }), seconds());
    rates = openRates('kraken', 'coingecko');
    await refresh();
    expect(rates.latest('BTC')).toMatchObject({ numerator: 184_001n, denominator: 2n });
    const rate = rateOf('BTC');
    const usd = { rate: rateOf('USD'), decimals: 2 };
    expect(convert(9_200_050n, usd, { rate, decimals: 8 }, 'up')).toBe(100_000_000n);
  });

  it('The rate is as old as the oldest of its prices', async () => {
    exchanges.quote('coingecko', market, seconds() - 40);
    rates = openRates('kraken', 'coingecko');
    await refresh();
    expect(rates.latest('BTC')?.at).toBe((seconds() - 40) * 1000);
  });
});

describe('Sources that misbehave', () => {
  it('A source with a wrong price is ignored: the others agree', async () => {
    exchanges.quote('kraken', priced({ BTC: '9200', ETH: '100000' }));
    await refresh();
    expect(dollars('BTC')).toBeCloseTo(92_000, 0);
    expect(sourcesOf('BTC')).not.toContain('kraken');
    expect(dollars('ETH')).toBeCloseTo(3050, 0);
    expect(sourcesOf('LTC')).toContain('kraken');
  });

  it('A single source is not believed, and two that differ by more than 4 % give no rate', async () => {
    rates = openRates('kraken', 'coingecko');
    exchanges.quote('coingecko', priced({ BTC: '97000' }), seconds());
    await refresh();
    expect(dollars('BTC')).toBeUndefined();
    expect(dollars('ETH')).toBe(3050);
    exchanges.answer('coingecko', (response) => response.writeHead(500).end());
    time += 61_000;
    await refresh();
    expect(time - (rates.latest('ETH')?.at ?? 0)).toBeGreaterThan(60_000);
  });

  it('Two sources that are 4 % apart are each within 2 % of their middle, and still do not agree', async () => {
    exchanges.quote('kraken', priced({ BTC: '92000' }));
    exchanges.quote('coingecko', priced({ BTC: '95755' }), seconds());
    rates = openRates('kraken', 'coingecko');
    await refresh();
    expect(dollars('BTC')).toBeUndefined();
  });

  it('No source with a wrong price moves the rate by 2 %, wherever it puts its own', () => {
    const at = (source: string, price: number) => ({
      source,
      at: time,
      price: { numerator: BigInt(price), denominator: 1n },
    });
    for (const honest of [[92_000], [92_000, 92_900], [92_000, 92_900, 93_600]]) {
      for (let lie = 80_000; lie < 106_000; lie += 50) {
        const kept = agreeing([...honest, lie].map((price, index) => at(String(index), price)));
        const { numerator, denominator } = median(kept.map(({ price }) => price)) ?? {};
        if (kept.length < 2 || numerator === undefined) continue;
        const price = Number(numerator) / Number(denominator);
        expect(price).toBeGreaterThan(Math.min(...honest) * 0.98);
        expect(price).toBeLessThan(Math.max(...honest) * 1.02);
      }
    }
  });

  it('Fiat rates of two sources that differ count as none, and a single one says so, with its age', async () => {
    rates = openRates('kraken', 'bitstamp', 'coinbase', 'er-api');
    exchanges.quote('er-api', { ...market, fiat: { ...market.fiat, NGN: '1600' } }, seconds() - 7200);
    await refresh();
    expect(dollars('NGN')).toBeUndefined();
    expect(sourcesOf('EUR')).toEqual(['coinbase', 'er-api']);
    exchanges.answer('coinbase', (response) => response.writeHead(500).end());
    rates = openRates('kraken', 'bitstamp', 'coinbase', 'er-api');
    await refresh();
    const published = new Date((seconds() - 7200) * 1000).toISOString();
    expect(rates.latest('NGN')?.source).toBe(`only er-api, of ${published}`);
    expect(lines.map(({ msg }) => msg)).toContain(
      'Exchange rates come from only one source: no other confirms them',
    );
  });

  it('A price that the source itself calls old does not count', async () => {
    rates = openRates('kraken', 'bitstamp');
    exchanges.quote('bitstamp', market, seconds() - 61);
    await refresh();
    expect(dollars('BTC')).toBeUndefined();
    time += 30_000;
    exchanges.quote('bitstamp', market, seconds() - 20);
    await refresh();
    expect(dollars('BTC')).toBe(92_000);
  });

  it('A source whose clock is ahead does not make its price newer than the question', async () => {
    exchanges.quote('bitstamp', market, seconds() + 3600);
    rates = openRates('kraken', 'bitstamp');
    await refresh();
    expect(rates.latest('BTC')?.at).toBe(time);
  });

  it.each([
    ['HTTP 500', (r: Response) => r.writeHead(500).end('{}'), 'It answered HTTP 500'],
    ['a page', (r: Response) => r.end('<html>Maintenance</html>'), 'It did not answer with JSON'],
    ['half of a reply', (r: Response) => r.end('{"error":[],"resu'), 'It did not answer with JSON'],
    ['another form', (r: Response) => r.end('{"price":1}'), 'It did not answer in the documented form'],
    ['null', (r: Response) => r.end('null'), 'It did not answer in the documented form'],
    [
      'an error in the documented form',
      (r: Response) => r.end('{"error":["EService:Unavailable"]}'),
      'It answered EService:Unavailable',
    ],
    [
      'a refusal of every pair',
      (r: Response) => r.end('{"error":["EQuery:Unknown asset pair"]}'),
      'It refuses all of its markets: It answered EQuery:Unknown asset pair',
    ],
    [
      'a redirect',
      (r: Response) => r.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
      'It could not be reached',
    ],
    ['a broken connection', (r: Response) => r.destroy(), 'It could not be reached'],
    ['nothing', () => {}, 'It did not answer within 1500 ms'],
    ['5 MB', (r: Response) => r.end(`"${'a'.repeat(5_000_000)}"`), 'more than 4000000 bytes'],
  ])('%s from one source is a problem of that source only', async (_, behavior, problem) => {
    exchanges.answer('kraken', behavior);
    timeoutMs = problem.includes('1500 ms') ? 1500 : timeoutMs;
    rates = openRates(...all);
    await refresh();
    expect(problemOf('kraken')).toContain(problem);
    expect(dollars('BTC')).toBeCloseTo(92_000, 0);
    expect(sourcesOf('BTC')).toEqual(['coinbase', 'binance', 'bitstamp', 'coingecko']);
  });

  it.each(['0', '-5', '1e99', 'NaN', '', '1'.repeat(31), '0x10', ' 5'])(
    'A price of %j is no price',
    async (price) => {
      exchanges.quote('kraken', priced({ BTC: price }));
      await refresh();
      expect(problemOf('kraken')).toBeUndefined();
      expect(sourcesOf('BTC')).not.toContain('kraken');
      expect(sourcesOf('ETH')).toContain('kraken');
    },
  );

  it('A market with its offers further apart than 2 % has no price', async () => {
    exchanges.answer('kraken', (response) =>
      response.end('{"error":[],"result":{"XXBTZUSD":{"a":["95000","1","1"],"b":["90000","1","1"]}}}'),
    );
    await refresh();
    expect(problemOf('kraken')).toBeUndefined();
    expect(sourcesOf('BTC')).not.toContain('kraken');
  });

  it('If all fail, no price can be locked after a minute, and no value is shown after a quarter of an hour', async () => {
    await refresh();
    for (const name of all) exchanges.answer(name, (response) => response.writeHead(503).end());
    time += 61_000;
    await refresh();
    expect(time - (rates.latest('BTC')?.at ?? 0)).toBeGreaterThan(60_000);
    expect(rates.latest('EUR')?.maxAgeMs).toBe(86_400_000);
    time += 900_000;
    await refresh();
    expect(rates.latest('BTC')).toBeUndefined();
    expect(dollars('EUR')).toBeCloseTo(1 / 0.86, 9);
    time += 86_400_000;
    await refresh();
    expect(rates.latest('EUR')).toBeUndefined();
  });

  it('Fiat rates of yesterday count, and those of the day before do not', async () => {
    rates = openRates('kraken', 'bitstamp', 'er-api');
    exchanges.quote('er-api', market, seconds() - 86_000);
    await refresh();
    expect(dollars('NGN')).toBeCloseTo(1 / 1540, 9);
    rates = openRates('kraken', 'bitstamp', 'er-api');
    exchanges.quote('er-api', market, seconds() - 86_401);
    await refresh();
    expect(dollars('NGN')).toBeUndefined();
  });

  it('A failure is logged once, and its end once, and neither shows the URL', async () => {
    exchanges.answer('kraken', (response) => response.writeHead(500).end());
    await refresh();
    for (let round = 0; round < 3; round += 1) {
      time += 300_000;
      await refresh();
    }
    exchanges.quote('kraken');
    time += 300_000;
    await refresh();
    const about = lines.filter(({ source }) => source === 'kraken').map(({ msg }) => msg);
    expect(about).toEqual([
      'A source of exchange rates failed; it is asked again',
      'A source of exchange rates works again',
    ]);
    expect(JSON.stringify(lines)).not.toContain('http://');
  });
});

describe('The intervals at which sources are asked', () => {
  it('Sources are not asked before they are due, and fiat sources only rarely', async () => {
    await refresh();
    await refresh();
    time += 16_000;
    await refresh();
    expect([exchanges.asked('kraken'), exchanges.asked('coingecko'), exchanges.asked('er-api')]).toEqual([
      2, 1, 1,
    ]);
  });

  it('A source that sends Retry-After is not asked before then', async () => {
    exchanges.answer('kraken', (response) => response.writeHead(429, { 'Retry-After': '600' }).end());
    await refresh();
    time += 599_000;
    await refresh();
    expect(exchanges.asked('kraken')).toBe(1);
    time += 2000;
    await refresh();
    expect(exchanges.asked('kraken')).toBe(2);
  });

  it('Sources that never answer leave the rest a rate', async () => {
    exchanges.answer('kraken', () => {});
    exchanges.answer('coinbase', () => {});
    timeoutMs = 1500;
    rates = openRates(...all);
    await refresh();
    expect(sourcesOf('BTC')).toEqual(['binance', 'bitstamp', 'coingecko']);
  });

  it('A stopped server stops asking', async () => {
    exchanges.answer('kraken', () => {});
    const stopping = new AbortController();
    const running = rates.refresh(stopping.signal);
    stopping.abort(new Error('Stopped'));
    await expect(running).rejects.toThrow('Stopped');
  });
});

describe('RATES', () => {
  it.each([
    'kraken,coinbase',
    'kraken, bitstamp, er-api',
    'coingecko=https://proxy.example.com/cg/,coinbase',
  ])('%s is enough', (text) => {
    expect(parseSources(text)?.length).toBeGreaterThanOrEqual(2);
  });

  it.each([
    ['kraken', 'one source'],
    ['kraken,binance', 'Binance prices only in USDT'],
    ['kraken,er-api', 'only one of them prices coins'],
    ['kraken,kraken', 'the same twice'],
    ['kraken,coinbase,nobody', 'an unknown one'],
    ['kraken=ftp://example.com,coinbase', 'not an http URL'],
    ['kraken=https://user:password@example.com,coinbase', 'credentials in a URL'],
    ['', 'nothing'],
  ])('%j is refused: %s', (text) => {
    expect(parseSources(text)).toBeUndefined();
  });
});

describe('Exact JSON', () => {
  it('Numbers keep their digits, and strings keep theirs', () => {
    expect(parseExactJson('{"a 1":12.50,"b":["3","\\"4\\" 5",-6e-7],"c":null,"d":true}')).toEqual({
      'a 1': '12.50',
      b: ['3', '"4" 5', '-6e-7'],
      c: null,
      d: true,
    });
  });

  it.each(['{1:2}', '[1 2]', '01', '1.', ''])('%j is still not JSON', (text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  });

  it.each([
    ['0.5', 1n, 2n],
    ['7e-7', 7n, 10_000_000n],
    ['1.5E+3', 1500n, 1n],
    ['100', 100n, 1n],
  ])('%s is %i/%i', (text, numerator, denominator) => {
    expect(parsePositive(text)).toEqual({ numerator, denominator });
  });
});

type Response = Parameters<Parameters<Exchanges['answer']>[1]>[0];
