/** Exchange rates from several sources in the world, fetched in the background: the median of those that agree. */
import type { Logger } from 'pino';
import { agreeing, median, type SourcePrice } from './agreement.js';
import type { Currency } from './currency-list.js';
import { isoTime } from '../shared/clock.js';
import { multiply } from './fractions.js';
import type { Rate } from './rates.js';
import { fetchJson, SourceFailed } from './sources/fetch-json.js';
import type { Quote, RateSourceAdapter } from './sources/source.js';

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
/** How many sources must agree on a price. */
const needed = 2;
/** An agreed rate stays known this long for values that are only shown. No price can be locked at it. */
const shownForMs = 900_000;
const longestPauseMs = 120_000;
/** A source that has nothing new at the time that it announced is asked again after this long. */
const lateSourceMs = 600_000;

interface SourceState {
  readonly adapter: RateSourceAdapter;
  quotes: ReadonlyMap<string, Quote & { readonly at: number }>;
  answeredAt: number | undefined;
  dueAt: number;
  failures: number;
  problem: string | undefined;
}

export function createWorldRates(options: WorldRatesOptions) {
  const { currencies, now, log, timeoutMs = 5000 } = options;
  const states = options.adapters.map((adapter): SourceState => ({
    adapter,
    quotes: new Map(),
    answeredAt: undefined,
    dueAt: 0,
    failures: 0,
    problem: undefined,
  }));
  const agreed = new Map<string, Rate>();
  /** Currencies whose sources do not agree, or do not answer. */
  const missing = new Set<string>();
  /** Whether fiat rates came from one source alone at the last look. */
  let isAlone = false;

  async function ask(state: SourceState, signal: AbortSignal): Promise<void> {
    const { adapter } = state;
    const askedAt = now();
    try {
      const reply = await fetchJson(adapter.url + adapter.path, timeoutMs, signal);
      const { quotes, nextAt } = read(adapter, reply);
      state.quotes = new Map(
        // The source's clock may be ahead of ours, but a price of the future is not newer than the question.
        quotes.map((quote) => [quote.currency, { ...quote, at: Math.min(quote.at ?? askedAt, askedAt) }]),
      );
      state.answeredAt = askedAt;
      state.dueAt = askedAt + pauseUntil(askedAt, adapter.intervalMs, nextAt);
      if (state.failures > 0) log.info({ source: adapter.name }, 'A source of exchange rates works again');
      state.failures = 0;
      state.problem = undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SourceFailed)) throw error;
      state.failures += 1;
      state.problem = error.message;
      const pause = Math.min(adapter.intervalMs * 2 ** (state.failures - 1), longestPauseMs);
      state.dueAt = askedAt + Math.max(pause, error.retryAfterMs);
      if (state.failures === 1) {
        log.warn(
          { err: error, source: adapter.name },
          'A source of exchange rates failed; it is asked again',
        );
      }
    }
  }

  /** @param dollarsPerUsdt leaves out prices in USDT if it is undefined */
  function pricesOf(code: string, dollarsPerUsdt: Rate | undefined): SourcePrice[] {
    return states.flatMap(({ adapter: { name: source }, quotes }) => {
      const quote = quotes.get(code);
      if (!quote) return [];
      const { price, at, quotedIn } = quote;
      if (quotedIn === 'USD') return [{ source, price, at }];
      if (!dollarsPerUsdt) return [];
      return [{ source, price: multiply(price, dollarsPerUsdt), at: Math.min(at, dollarsPerUsdt.at) }];
    });
  }

  function agree(
    { code, type }: Pick<Currency, 'code' | 'type'>,
    prices: readonly SourcePrice[],
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
    if (missing.delete(code)) log.info({ currency: code }, 'The exchange rate is known again');
    const at = Math.min(...kept.map((one) => one.at));
    const names = kept.map(({ source }) => source).join(', ');
    const source = kept.length > 1 ? `median of ${names}` : `${names} alone, of ${isoTime(at)}`;
    return { ...price, source, at, maxAgeMs: maxAgeMs[type] };
  }

  function warnIfAlone(): void {
    const alone = [...agreed].filter(([, { source }]) => source.includes(' alone, '));
    if (alone.length > 0 && !isAlone) {
      log.warn(
        { currencies: alone.map(([code]) => code), source: alone[0]?.[1].source },
        'Exchange rates come from one source alone: no other confirms them',
      );
    }
    isAlone = alone.length > 0;
  }

  /** The dollar price of USDT, from the sources that have a market in dollars. */
  const dollarsPerUsdt = () => agree({ code: 'USDT', type: 'crypto' }, pricesOf('USDT', undefined));

  function agreeOnAll(): void {
    const usdt = dollarsPerUsdt();
    for (const currency of currencies) {
      if (currency.code === 'USD') continue;
      const rate = agree(currency, pricesOf(currency.code, usdt));
      if (rate) agreed.set(currency.code, rate);
    }
    warnIfAlone();
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
      await Promise.all(states.filter(({ dueAt }) => dueAt <= time).map((state) => ask(state, signal)));
      agreeOnAll();
    },

    /** When each last answered as documented, epoch milliseconds, and why its last request failed; undefined if it did not. */
    sources: () =>
      states.map(({ adapter, answeredAt, problem }) => ({ name: adapter.name, answeredAt, problem })),

    /** What each source says about a currency, in dollars, however old it is and whether or not the others agree. */
    prices: (currency: string) => pricesOf(currency, dollarsPerUsdt()),
  };
}

/** @throws SourceFailed */
function read(adapter: RateSourceAdapter, reply: unknown) {
  try {
    return adapter.read(reply);
  } catch (error) {
    throw new SourceFailed('It did not answer in the documented form', { cause: error });
  }
}

function pauseUntil(askedAt: number, intervalMs: number, nextAt: number | undefined): number {
  if (nextAt === undefined) return intervalMs;
  // A minute later, when the source has published it.
  const untilNext = nextAt + 60_000 - askedAt;
  return untilNext > 0 ? Math.min(intervalMs, untilNext) : Math.min(intervalMs, lateSourceMs);
}
