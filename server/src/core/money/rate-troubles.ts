/** The problems of the sources of exchange rates, as the running server sees them, for commands in other processes. */
import * as z from 'zod/mini';
import type { Database } from '../db/database.js';
import type { Reader } from '../db/engine.js';
import { jsonSetting } from '../db/settings.js';
import type { WorldRates } from './world-rates.js';

const trouble = z.object({
  source: z.string(),
  /** Undefined if it is the whole source. */
  market: z.exactOptional(z.string()),
  problem: z.string(),
});
export type RateTrouble = Readonly<z.output<typeof trouble>>;

const setting = jsonSetting('rate troubles', z.readonly(z.array(trouble)));

/** Returns a job that writes them whenever they change. */
export function createRateTroubleReport(database: Database, rates: WorldRates) {
  let written: string | undefined;
  return async () => {
    const troubles = troublesOf(rates);
    const text = JSON.stringify(troubles);
    if (text === written) return;
    await database.write((transaction) => setting.write(transaction, troubles));
    written = text;
  };
}

/** The troubles that the server wrote last; none if it never ran with rate sources. */
export async function readRateTroubles(reader: Reader): Promise<readonly RateTrouble[]> {
  return (await setting.read(reader)) ?? [];
}

function troublesOf(rates: WorldRates): RateTrouble[] {
  const failing = rates
    .sources()
    .flatMap(({ name: source, problem }) => (problem === undefined ? [] : [{ source, problem }]));
  return [...failing, ...rates.marketsOut()];
}
