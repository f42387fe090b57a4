/** When the cycles of a subscription are due: so many periods after its anchor, in UTC. */
import type { Frequency } from 'crypto-checkout/contract';
import { Temporal } from 'temporal-polyfill';

/** What lies between the anchor and a cycle. */
const distances: Readonly<Record<Frequency, (cycle: number) => Temporal.DurationLike>> = {
  hourly: (cycle) => ({ hours: cycle }),
  daily: (cycle) => ({ days: cycle }),
  weekly: (cycle) => ({ weeks: cycle }),
  monthly: (cycle) => ({ months: cycle }),
  quarterly: (cycle) => ({ months: 3 * cycle }),
  'every six months': (cycle) => ({ months: 6 * cycle }),
  yearly: (cycle) => ({ years: cycle }),
};

const hour = 3_600_000;
/** 400 years of the Gregorian calendar are 146,097 days. */
const year = (146_097 * 24 * hour) / 400;
const averageLengths: Readonly<Record<Frequency, number>> = {
  hourly: hour,
  daily: 24 * hour,
  weekly: 7 * 24 * hour,
  monthly: year / 12,
  quarterly: year / 4,
  'every six months': year / 2,
  yearly: year,
};

/**
 * Months and years are counted from the anchor, never from the cycle before: from the 31st on the due day is
 * the last one of a shorter month, and the 31st again in a longer one.
 * @param anchor epoch milliseconds of cycle 0
 * @returns epoch milliseconds
 */
export function dueAt(anchor: number, frequency: Frequency, cycle: number): number {
  return Temporal.Instant.fromEpochMilliseconds(anchor)
    .toZonedDateTimeISO('UTC')
    .add(distances[frequency](cycle), { overflow: 'constrain' }).epochMilliseconds;
}

/** The last cycle that is due by now; below 0 before the anchor. */
export function newestDue(anchor: number, frequency: Frequency, now: number): number {
  // Months and years differ from their average by days, so the guess is a cycle off at most.
  let cycle = Math.floor((now - anchor) / averageLengths[frequency]);
  while (dueAt(anchor, frequency, cycle) > now) cycle -= 1;
  while (dueAt(anchor, frequency, cycle + 1) <= now) cycle += 1;
  return cycle;
}
