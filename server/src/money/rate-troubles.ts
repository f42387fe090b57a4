/** What is wrong with the sources of exchange rates, as the running server sees it, for commands in other processes. */
import type { Database } from '../db/database.js';
import type { Reader } from '../db/engine.js';
import { readSetting, writeSetting } from '../db/settings.js';
import type { WorldRates } from './world-rates.js';

export interface RateTrouble {
  readonly source: string;
  /** Undefined if it is the whole source. */
  readonly market?: string;
  readonly problem: string;
}

const setting = 'rate troubles';

/** Returns a job that writes them whenever they change. */
export function createRateTroubleReport(database: Database, rates: WorldRates) {
  let written: string | undefined;
  return async () => {
    const troubles = JSON.stringify(troublesOf(rates));
    if (troubles === written) return;
    await database.write((transaction) => writeSetting(transaction, setting, troubles));
    written = troubles;
  };
}

/** Those that the server wrote last; none if it never ran with sources of rates. */
export async function readRateTroubles(reader: Reader): Promise<readonly RateTrouble[]> {
  return JSON.parse((await readSetting(reader, setting)) ?? '[]') as readonly RateTrouble[];
}

function troublesOf(rates: WorldRates): RateTrouble[] {
  const failing = rates
    .sources()
    .flatMap(({ name: source, problem }) => (problem === undefined ? [] : [{ source, problem }]));
  return [...failing, ...rates.marketsOut()];
}
