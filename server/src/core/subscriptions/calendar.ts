/** When the cycles of a subscription are due: cycle n is due n periods after the anchor, in UTC. */
import type { Frequency } from 'crypto-checkout/contract';
import { Temporal } from 'temporal-polyfill';

/** The time between two cycles. */
const periods = {
  hourly: ['hours', 1],
  daily: ['days', 1],
  weekly: ['weeks', 1],
  monthly: ['months', 1],
  quarterly: ['months', 3],
  'every six months': ['months', 6],
  yearly: ['years', 1],
} as const satisfies Record<Frequency, readonly [unit: string, count: number]>;

const inUtc = (time: number) => Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO('UTC');

/**
 * When a cycle is due. Months and years are counted from the anchor, never from the previous cycle: if the anchor is
 * on the 31st, the due day is the last day of a shorter month, and the 31st again in a longer one.
 * @param anchor epoch milliseconds of cycle 0
 * @returns epoch milliseconds
 */
export function dueAt(anchor: number, frequency: Frequency, cycle: number): number {
  const [unit, count] = periods[frequency];
  return inUtc(anchor).add({ [unit]: count * cycle }, { overflow: 'constrain' }).epochMilliseconds;
}

/** The newest cycle that is due at `now`; below 0 before the anchor. */
export function newestDue(anchor: number, frequency: Frequency, now: number): number {
  const [unit, count] = periods[frequency];
  // Whole months and years are counted in another way here than they are added, so this estimate is off by one cycle at most.
  let cycle = Math.floor(inUtc(anchor).until(inUtc(now), { largestUnit: unit })[unit] / count);
  while (dueAt(anchor, frequency, cycle) > now) cycle -= 1;
  while (dueAt(anchor, frequency, cycle + 1) <= now) cycle += 1;
  return cycle;
}
