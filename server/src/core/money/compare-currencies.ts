/** Compares BASE_CURRENCIES of all servers on one database: a shop that gets another list from each would be refused every second time. */
import type { Logger } from 'pino';
import * as z from 'zod/mini';
import type { Database } from '../db/database.js';
import { jsonSetting } from '../db/settings.js';
import type { Feature } from '../shared/feature.js';
import { currenciesWith } from './base-currencies.js';
import { currencies } from './currency-list.js';

const note = z.object({
  server: z.string(),
  /** In addition to the built-in ones, sorted. */
  codes: z.readonly(z.array(z.string())),
  /** When it last wrote this, epoch milliseconds. */
  at: z.number(),
});

const setting = jsonSetting('currencies of servers', z.readonly(z.array(note)));

const comparedEveryMs = 5000;
/** A server that has not written for this long has ended. */
const silentMs = 4 * comparedEveryMs;

interface ComparisonDeps {
  readonly database: Database;
  readonly log: Pick<Logger, 'warn'>;
  /** The time that all servers share, epoch milliseconds. */
  readonly now: () => number;
  /** A name of this server that no other has. */
  readonly server: string;
}

export function createCurrencyComparison(
  codes: readonly string[],
  { database, log, now, server }: ComparisonDeps,
): Feature {
  const own = currenciesWith(codes)
    .filter((one) => !currencies.includes(one))
    .map(({ code }) => code)
    .sort();
  /** When each other server had written before we first saw it. One that writes no more may have ended before this one started. */
  const firstSeen = new Map<string, number>();
  let notice: string | undefined;

  async function run(): Promise<void> {
    // Only one server uses a SQLite file.
    if (database.engine === 'sqlite') return;
    const others = await database.write(async (transaction) => {
      const noted = (await setting.lock(transaction)) ?? [];
      const recent = noted.filter((one) => one.server !== server && one.at > now() - silentMs);
      await setting.write(transaction, [...recent, { server, codes: own, at: now() }]);
      return recent;
    });
    for (const { server: name, at } of others) if (!firstSeen.has(name)) firstSeen.set(name, at);
    for (const name of firstSeen.keys())
      if (!others.some((one) => one.server === name)) firstSeen.delete(name);
    const different = others.find(
      (one) => one.at > (firstSeen.get(one.server) ?? one.at) && one.codes.join() !== own.join(),
    );
    const previous = notice;
    notice = different && describe(own, different.codes);
    if (notice !== undefined && notice !== previous) log.warn(notice);
  }

  return {
    jobs: () => [{ name: 'currencies of servers', intervalMs: comparedEveryMs, run }],
    notices: () => (notice === undefined ? [] : [notice]),
  };
}

function describe(own: readonly string[], others: readonly string[]): string {
  const list = (codes: readonly string[]) => (codes.length === 0 ? 'none' : codes.join(','));
  return `BASE_CURRENCIES of the servers on this database differ: this one has ${list(own)}, and another has ${list(others)}. Set the same for all`;
}
