/** Exchange rates from several sources in the world, fetched in the background: the median of those that agree. */
import type { Logger } from 'pino';
import { agreeing, median, type SourcePrice } from './agreement.js';
import { createAskedSource } from './asked-source.js';
import type { Currency } from './currency-list.js';
import { isoTime } from '../shared/clock.js';
import { multiply } from './fractions.js';
import type { Rate } from './rates.js';
import type { RateSourceAdapter } from './sources/source.js';

export type WorldRates = ReturnType<typeof createWorldRates>;

export interface WorldRatesOptions {
  readonly adapters: readonly RateSourceAdapter[];
  readonly currencies: readonly Currency[];
  /** Real time, epoch milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
  readonly timeoutMs?: number;
}

/** A coin's price counts for a minute. Sources of fiat rates publish once a day. */
const maxAgeMs = { crypto: 60_000, fiat: 86_400_000 };
/** A price this old means that the market is halted. Some sources' prices are often a little too old to count. */
const haltedAfterMs = { crypto: 600_000, fiat: 3 * 86_400_000 };
/** The number of sources that must agree on a price. */
export const needed = 2;
/** An agreed rate stays known this long for values that are only shown. No price can be locked at it. */
const shownForMs = 900_000;

/** A market of a source that does not count now, and why. */
export interface MarketOut {
  readonly source: string;
  readonly market: string;
  readonly problem: string;
}

export function createWorldRates(options: WorldRatesOptions) {
  const { currencies, now, log, timeoutMs = 5000 } = options;
  const codes = new Set(currencies.map(({ code }) => code));
  const sources = options.adapters.map((adapter) =>
    createAskedSource({ adapter, codes, now, log, timeoutMs }),
  );
  const agreed = new Map<string, Rate>();
  /** Currencies whose sources do not agree, or do not answer. */
  const missing = new Set<string>();
  /** True if only one source had fiat rates at the last look. */
  let isAlone = false;
  /** `source/currency` of prices that the others contradict. */
  let outliers: ReadonlySet<string> = new Set();
  /** `source market` of those that the log has said to be out. */
  let loggedOut: ReadonlySet<string> = new Set();

  /** @param dollarsPerUsdt leaves out prices in USDT if it is undefined */
  function pricesOf(code: string, dollarsPerUsdt: Rate | undefined): SourcePrice[] {
    return sources.flatMap(({ name: source, markets }) => {
      const market = markets.get(code);
      if (!market || 'problem' in market) return [];
      const { price, at, quotedIn } = market;
      if (quotedIn === 'USD') return [{ source, price, at }];
      if (!dollarsPerUsdt) return [];
      return [{ source, price: multiply(price, dollarsPerUsdt), at: Math.min(at, dollarsPerUsdt.at) }];
    });
  }

  function agree(
    { code, type }: Pick<Currency, 'code' | 'type'>,
    prices: readonly SourcePrice[],
    found = new Set<string>(),
  ): Rate | undefined {
    const time = now();
    const fresh = prices.filter(({ at }) => time - at <= maxAgeMs[type]);
    const kept = agreeing(fresh);
    // A fiat currency may have no other source. Then its rate says so, with its age.
    const isEnough = kept.length >= needed || (type === 'fiat' && fresh.length === 1);
    const price = isEnough ? median(kept.map((one) => one.price)) : undefined;
    if (!price) {
      if (!missing.has(code))
        log.warn({ currency: code }, 'No exchange rate: too few sources answer and agree');
      missing.add(code);
      return undefined;
    }
    for (const { source } of fresh.filter((one) => !kept.includes(one))) found.add(`${source}/${code}`);
    if (missing.delete(code)) log.info({ currency: code }, 'The exchange rate is known again');
    const at = Math.min(...kept.map((one) => one.at));
    const names = kept.map(({ source }) => source).join(', ');
    const source = kept.length > 1 ? `median of ${names}` : `only ${names}, of ${isoTime(at)}`;
    return { ...price, source, at, maxAgeMs: maxAgeMs[type] };
  }

  function warnIfAlone(): void {
    const alone = [...agreed].filter(([, { source }]) => source.startsWith('only '));
    if (alone.length > 0 && !isAlone) {
      log.warn(
        { currencies: alone.map(([code]) => code), source: alone[0]?.[1].source },
        'Exchange rates come from only one source: no other confirms them',
      );
    }
    isAlone = alone.length > 0;
  }

  /** The dollar price of USDT, from the sources that have a market in dollars. */
  const dollarsPerUsdt = () => agree({ code: 'USDT', type: 'crypto' }, pricesOf('USDT', undefined));

  const typeOf = (code: string) => currencies.find((one) => one.code === code)?.type ?? 'crypto';

  /** Markets without a price, those whose price is old, and those whose price the others contradict. */
  function marketsOut(): MarketOut[] {
    const time = now();
    return sources.flatMap(({ name: source, markets, refused, status }) => [
      ...refused().map((one) => ({ source, ...one })),
      ...[...markets.values()].flatMap((known) => {
        const { market, currency, at } = known;
        const out = (problem: string) => [{ source, market, problem }];
        if ('problem' in known) return out(known.problem);
        // If the source does not answer, all its prices are old.
        if (status().problem === undefined && time - at > haltedAfterMs[typeOf(currency)]) {
          return out(`its price is of ${isoTime(at)}`);
        }
        return outliers.has(`${source}/${currency}`) ? out('the other sources contradict its price') : [];
      }),
    ]);
  }

  function logMarkets(): void {
    const out = new Map(marketsOut().map((one) => [`${one.source} ${one.market}`, one]));
    for (const [key, one] of out) {
      if (!loggedOut.has(key)) {
        log.warn(one, 'A market of a source of exchange rates is left out; the others of the source count');
      }
    }
    for (const key of loggedOut) {
      const [source, market] = key.split(' ');
      if (!out.has(key)) log.info({ source, market }, 'A market of a source of exchange rates counts again');
    }
    loggedOut = new Set(out.keys());
  }

  function agreeOnAll(): void {
    const found = new Set<string>();
    const usdt = dollarsPerUsdt();
    for (const currency of currencies) {
      if (currency.code === 'USD') continue;
      const rate = agree(currency, pricesOf(currency.code, usdt), found);
      if (rate) agreed.set(currency.code, rate);
    }
    outliers = found;
    warnIfAlone();
    logMarkets();
  }

  return {
    latest(currency: string): Rate | undefined {
      if (currency === 'USD') return { numerator: 1n, denominator: 1n, source: 'US dollars', at: now() };
      const rate = agreed.get(currency);
      return rate && now() - rate.at <= Math.max(shownForMs, rate.maxAgeMs ?? 0) ? rate : undefined;
    },

    /** Asks the sources that are due, side by side. Never rejects because of a source: the next call asks again. */
    async refresh(signal: AbortSignal): Promise<void> {
      const time = now();
      await Promise.all(sources.filter(({ isDue }) => isDue(time)).map(({ ask }) => ask(signal)));
      agreeOnAll();
    },

    /** When each last answered as documented, epoch milliseconds, and why its last request failed; undefined if it did not. */
    sources: () => sources.map(({ status }) => status()),

    marketsOut,

    /**
     * The sources that quote a fiat currency now, and those that could, but have not answered since the start.
     */
    quotes(currency: string): { readonly quoting: readonly string[]; readonly silent: readonly string[] } {
      const couldQuote = options.adapters.filter(({ dollarPrices: of }) => of === 'fiat' || of === 'all');
      const isSilent = (name: string) =>
        sources.some((one) => one.name === name && one.status().answeredAt === undefined);
      return {
        quoting: pricesOf(currency, undefined).map(({ source }) => source),
        silent: couldQuote.map(({ name }) => name).filter(isSilent),
      };
    },

    /** Each source's price of a currency, in dollars, however old it is and even if the others disagree. */
    prices: (currency: string) => pricesOf(currency, dollarsPerUsdt()),
  };
}
