/** When the cycles of a subscription are due: cycle n is due n periods after the anchor, in UTC. */
import type { Frequency } from 'crypto-checkout/contract';
import { Temporal } from 'temporal-polyfill';

/** The time between the anchor and a cycle. */
const distances: Readonly<Record<Frequency, (cycle: number) => Temporal.DurationLike>> = {
  hourly: (cycle) => ({ hours: cycle }),
  daily: (cycle) => ({ days: cycle }),
  weekly: (cycle) => ({ weeks: cycle }),
  monthly: (cycle) => ({ months: cycle }),
  quarterly: (cycle) => ({ months: 3 * cycle }),
  'every six months': (cycle) => ({ months: 6 * cycle }),
  yearly: (cycle) => ({ years: cycle }),
};

const hourMs = 3_600_000;
/** 400 years of the Gregorian calendar are 146,097 days. */
const yearMs = (146_097 * 24 * hourMs) / 400;
const averagePeriodMs: Readonly<Record<Frequency, number>> = {
  hourly: hourMs,
  daily: 24 * hourMs,
  weekly: 7 * 24 * hourMs,
  monthly: yearMs / 12,
  quarterly: yearMs / 4,
  'every six months': yearMs / 2,
  yearly: yearMs,
};

/**
 * When a cycle is due. Months and years are counted from the anchor, never from the previous cycle: if the anchor is
 * on the 31st, the due day is the last day of a shorter month, and the 31st again in a longer one.
 * @param anchor epoch milliseconds of cycle 0
 * @returns epoch milliseconds
 */
export function dueAt(anchor: number, frequency: Frequency, cycle: number): number {
  return Temporal.Instant.fromEpochMilliseconds(anchor)
    .toZonedDateTimeISO('UTC')
    .add(distances[frequency](cycle), { overflow: 'constrain' }).epochMilliseconds;
}

/** The newest cycle that is due at `now`; below 0 before the anchor. */
export function newestDue(anchor: number, frequency: Frequency, now: number): number {
  // Months and years differ from their average by a few days, so this estimate is off by at most one cycle.
  let cycle = Math.floor((now - anchor) / averagePeriodMs[frequency]);
  while (dueAt(anchor, frequency, cycle) > now) cycle -= 1;
  while (dueAt(anchor, frequency, cycle + 1) <= now) cycle += 1;
  return cycle;
}
