/** One source of exchange rates as it is asked again and again: its markets, each with its price or why it has none, and when it is due. */
import type { Logger } from 'pino';
import { fetchJson } from './sources/fetch-json.js';
import { RequestRefused, SourceFailed } from './sources/source-failed.js';
import type { RateSourceAdapter, Reading, Reply } from './sources/source.js';

/** A market at the last look. */
export type KnownMarket = Reading & { readonly at: number };

interface Options {
  readonly adapter: RateSourceAdapter;
  /** The currencies that matter. */
  readonly codes: ReadonlySet<string>;
  /** Real time, epoch milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
  readonly timeoutMs: number;
}

const longestPauseMs = 120_000;
/** A source that has nothing new at the time that it announced is asked again after this long. */
const lateSourceMs = 600_000;
/** A market that was refused is asked for again after a minute, and then less and less often. */
const refusedPausesMs = [60_000, 300_000, 900_000, 3_600_000];

/** A market that the source refuses to answer. */
interface RefusedMarket {
  readonly problem: string;
  readonly times: number;
  readonly askAgainAt: number;
}

export function createAskedSource({ adapter, codes, now, log, timeoutMs }: Options) {
  /** Keyed by currency. */
  const markets = new Map<string, KnownMarket>();
  /** Keyed by their names. */
  const refused = new Map<string, RefusedMarket>();
  let answeredAt: number | undefined;
  let dueAt = 0;
  let failures = 0;
  let failure: string | undefined;

  /** @throws RequestRefused, SourceFailed */
  async function request(names: readonly string[], signal: AbortSignal): Promise<Reply> {
    const reply = await fetchJson(adapter.url + adapter.path(names), timeoutMs, signal);
    let read: Reply;
    try {
      read = adapter.read(reply);
    } catch (error) {
      if (error instanceof SourceFailed) throw error;
      throw new SourceFailed('It did not answer in the documented form', { cause: error });
    }
    // A single missing market no longer exists. If all are missing, this is not the documented reply.
    if (read.readings.length === 0 && names.length !== 1) {
      throw new SourceFailed('It did not answer in the documented form');
    }
    return read;
  }

  /**
   * Asks for some markets. If one of them makes the source refuse all, halves find out which, and the others keep their prices.
   * @returns when the source will have something new, if it says so
   */
  async function askFor(names: readonly string[], signal: AbortSignal): Promise<number | undefined> {
    const askedAt = now();
    try {
      const reply = await request(names, signal);
      for (const name of names) refused.delete(name);
      keep(names, reply.readings, askedAt);
      answeredAt = askedAt;
      return reply.nextAt;
    } catch (error) {
      signal.throwIfAborted();
      const [name, ...others] = names;
      if (!(error instanceof RequestRefused) || name === undefined) throw error;
      if (others.length === 0) {
        refuse(name, error.message, askedAt);
        return undefined;
      }
      const half = Math.ceil(names.length / 2);
      await askFor(names.slice(0, half), signal);
      return askFor(names.slice(half), signal);
    }
  }

  function keep(names: readonly string[], readings: readonly Reading[], askedAt: number): void {
    for (const reading of readings) {
      const isAsked = names.length === 0 || names.includes(reading.market);
      if (!isAsked || !codes.has(reading.currency)) continue;
      // The source's clock may be ahead of ours, but no price is newer than the request.
      markets.set(reading.currency, { ...reading, at: Math.min(reading.at ?? askedAt, askedAt) });
    }
    const missing = 'it is not in the reply';
    for (const name of names) {
      if (!readings.some(({ market }) => market === name)) refuse(name, missing, askedAt);
    }
    if (names.length > 0) return;
    // A source that answers all that it has had this one before.
    for (const { market, currency, quotedIn } of markets.values()) {
      if (readings.some((reading) => reading.currency === currency)) continue;
      markets.set(currency, { market, currency, quotedIn, problem: missing, at: askedAt });
    }
  }

  function refuse(name: string, problem: string, askedAt: number): void {
    const times = (refused.get(name)?.times ?? 0) + 1;
    const pause = refusedPausesMs[Math.min(times, refusedPausesMs.length) - 1] ?? 0;
    refused.set(name, { problem, times, askAgainAt: askedAt + pause });
    for (const [currency, { market }] of markets) if (market === name) markets.delete(currency);
  }

  /** The names for each request. Those refused before do not endanger the others. */
  function groups(time: number): (readonly string[])[] {
    if (adapter.markets.length === 0) return [[]];
    const allowed = adapter.markets.filter((name) => !refused.has(name));
    const again = adapter.markets.filter((name) => (refused.get(name)?.askAgainAt ?? Infinity) <= time);
    return [allowed, again].filter((names) => names.length > 0);
  }

  function fail(error: SourceFailed, askedAt: number): void {
    failures += 1;
    failure = error.message;
    const pause = Math.min(adapter.intervalMs * 2 ** (failures - 1), longestPauseMs);
    dueAt = askedAt + Math.max(pause, error.retryAfterMs);
    if (failures === 1) {
      log.warn({ err: error, source: adapter.name }, 'A source of exchange rates failed; it is asked again');
    }
  }

  return {
    name: adapter.name,
    /** Keyed by currency, without refused markets. */
    markets: markets as ReadonlyMap<string, KnownMarket>,
    /** The markets that it refuses to answer, and why. */
    refused: () => [...refused].map(([market, { problem }]) => ({ market, problem })),
    isDue: (time: number) => dueAt <= time,
    /** When it last answered as documented, epoch milliseconds, and why its last request failed; undefined if it did not. */
    status: () => ({ name: adapter.name, answeredAt, problem: failure }),

    /** Never rejects because of the source. */
    async ask(signal: AbortSignal): Promise<void> {
      const askedAt = now();
      try {
        let nextAt: number | undefined;
        for (const names of groups(askedAt)) nextAt = await askFor(names, signal);
        if (adapter.markets.length > 0 && adapter.markets.every((name) => refused.has(name))) {
          throw new SourceFailed(`It refuses all of its markets: ${[...refused.values()][0]?.problem ?? ''}`);
        }
        dueAt = askedAt + pauseUntil(askedAt, adapter.intervalMs, nextAt);
        if (failures > 0) log.info({ source: adapter.name }, 'A source of exchange rates works again');
        failures = 0;
        failure = undefined;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof SourceFailed)) throw error;
        fail(error, askedAt);
      }
    },
  };
}

function pauseUntil(askedAt: number, intervalMs: number, nextAt: number | undefined): number {
  if (nextAt === undefined) return intervalMs;
  // A minute after the next update is due, when the source has published it.
  const untilNext = nextAt + 60_000 - askedAt;
  return untilNext > 0 ? Math.min(intervalMs, untilNext) : Math.min(intervalMs, lateSourceMs);
}
