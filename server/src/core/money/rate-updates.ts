/** Keeps the exchange rates fresh, says which are missing, and refuses to start with a currency that nobody could pay a price in. */
import type { Logger } from 'pino';
import type { Database } from '../db/database.js';
import type { Feature } from '../shared/feature.js';
import { ensureQuoted } from './base-currencies.js';
import { createRateTroubleReport } from './rate-troubles.js';
import type { RateSource } from './rates.js';
import type { WorldRates } from './world-rates.js';

interface RateUpdatesDeps {
  readonly database: Database;
  readonly log: Logger;
  readonly rates: RateSource;
  /** Undefined if rates come from a file. */
  readonly worldRates: WorldRates | undefined;
}

/** @param codes of BASE_CURRENCIES */
export function createRateUpdates(codes: readonly string[], deps: RateUpdatesDeps): Feature {
  const { database, worldRates } = deps;
  return {
    prepare: (signal) => ensureQuoted(codes, deps, signal),
    jobs() {
      if (!worldRates) return [];
      const report = createRateTroubleReport(database, worldRates);
      return [
        {
          name: 'rates',
          intervalMs: 1000,
          async run(signal) {
            await worldRates.refresh(signal);
            await report();
          },
        },
      ];
    },
    figures: () => [
      {
        name: 'checkout_rate_source_failing',
        help: '1 if the last request to a source of exchange rates failed, otherwise 0',
        labels: ['source'],
        read: () =>
          (worldRates?.sources() ?? []).map(({ name, problem }) => [
            { source: name },
            Number(problem !== undefined),
          ]),
      },
      {
        name: 'checkout_rate_market_out',
        help: '1 for a market of a source of exchange rates that does not count now; `chains status` says why',
        labels: ['source', 'market'],
        read: () => (worldRates?.marketsOut() ?? []).map(({ source, market }) => [{ source, market }, 1]),
      },
    ],
  };
}
