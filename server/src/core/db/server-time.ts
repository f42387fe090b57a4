/**
 * The server's real time. On PostgreSQL it is the database's, so that all replicas agree: a replica whose own clock is
 * wrong must not end anybody's payment. On SQLite there is one server, and its own clock is the time.
 */
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from './database.js';

export interface ServerTime {
  /** Epoch milliseconds, an integer. */
  now(): number;
  /** The time that this machine's own clock was ahead of `now` at the last measurement, in milliseconds. */
  skewMs(): number;
  /** Asks the database for the time. It also logs, once, if this machine's own clock is wrong or right again. */
  measure(): Promise<void>;
}

/** A replica whose own clock is further off than this is not ready. */
export const maxSkewMs = 2000;

/** A round trip that is short enough: the database read its clock somewhere within it. */
const shortMs = 30;
const mostTries = 5;

/** @param localNow this machine's own clock, epoch milliseconds */
export async function createServerTime(
  database: Database,
  log: Logger,
  localNow: () => number = Date.now,
): Promise<ServerTime> {
  if (database.engine === 'sqlite') {
    return { now: localNow, skewMs: () => 0, measure: () => Promise.resolve() };
  }
  // Between measurements the time advances by a monotonic clock, which does not jump when the machine's clock is set.
  let ahead = Number.NaN;
  let skewMs = 0;
  let latest = Number.NEGATIVE_INFINITY;

  function now(): number {
    const time = Math.floor(performance.now() + ahead);
    // A correction by milliseconds waits for the time to catch up, so that what happens later never seems earlier.
    if (time < latest && latest - time < maxSkewMs) return latest;
    latest = time;
    return time;
  }

  async function ask(): Promise<{ before: number; time: number; after: number }> {
    const before = performance.now();
    const { rows } = await sql<{ now: number }>`
      select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(database.reader);
    const after = performance.now();
    const [row] = rows;
    if (!row) throw new Error('The database did not return the time');
    return { before, time: row.now, after };
  }

  /** The shortest of a few round trips. One that waited for a connection first would be off by half of the wait. */
  async function askOften() {
    let best = await ask();
    for (let tries = 1; tries < mostTries && best.after - best.before > shortMs; tries += 1) {
      const next = await ask();
      if (next.after - next.before < best.after - best.before) best = next;
    }
    return best;
  }

  const time: ServerTime = {
    now,
    skewMs: () => skewMs,

    async measure() {
      const { before, time: read, after } = await askOften();
      // If the known time fits too, keep it: it does not jitter.
      const fits = ahead + before <= read + 1 && ahead + after >= read - 1;
      if (!fits) ahead = read - (before + after) / 2;
      const wasWrong = Math.abs(skewMs) > maxSkewMs;
      skewMs = Math.round(localNow() - now());
      const isWrong = Math.abs(skewMs) > maxSkewMs;
      if (isWrong && !wasWrong) {
        log.warn({ skewMs }, `Not ready: ${describeSkew(skewMs)}. Synchronize it, for example with NTP`);
      } else if (!isWrong && wasWrong) {
        log.info({ skewMs }, "This server's clock agrees with the database's again");
      }
    },
  };
  await time.measure();
  return time;
}

/** "this server's clock is 7200 s ahead of the database's". */
export function describeSkew(skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return `this server's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the database's`;
}
