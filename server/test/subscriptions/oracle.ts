/**
 * The rules of billing, written independently of their implementation: a calendar that counts days by the lengths of
 * the months, and the rules of charging as a walk along a timeline.
 */
import type { Frequency } from 'crypto-checkout/contract';

interface Day {
  year: number;
  month: number;
  day: number;
}

function lengthOf({ year, month }: Pick<Day, 'year' | 'month'>): number {
  if (month === 4 || month === 6 || month === 9 || month === 11) return 30;
  if (month !== 2) return 31;
  if (year % 400 === 0) return 29;
  if (year % 100 === 0) return 28;
  return year % 4 === 0 ? 29 : 28;
}

function tomorrow({ year, month, day }: Day): Day {
  if (day < lengthOf({ year, month })) return { year, month, day: day + 1 };
  return month < 12 ? { year, month: month + 1, day: 1 } : { year: year + 1, month: 1, day: 1 };
}

const two = (value: number) => String(value).padStart(2, '0');
const write = ({ year, month, day }: Day, time: string) => `${year}-${two(month)}-${two(day)}T${time}`;

/** The months between two charges, for frequencies that count in months. */
const months: Partial<Record<Frequency, number>> = {
  monthly: 1,
  quarterly: 3,
  'every six months': 6,
  yearly: 12,
};

/**
 * When the cycles are due in the years after an anchor.
 * @param anchor `2024-01-31T10:00:00.000Z`
 */
export function dueTimes(anchor: string, frequency: Frequency, years: number): string[] {
  const [year, month, day] = anchor.slice(0, 10).split('-').map(Number) as [number, number, number];
  const timeOfDay = anchor.slice(11);
  const end = write({ year: year + years, month, day }, timeOfDay);
  const times: string[] = [];
  let daysPassed = 0;
  for (let today: Day = { year, month, day }; ; today = tomorrow(today), daysPassed += 1) {
    for (const time of timesOn(today)) {
      const moment = write(today, time);
      if (moment >= end) return times;
      if (moment >= anchor) times.push(moment);
    }
  }

  function timesOn(today: Day): string[] {
    if (frequency === 'hourly') {
      return Array.from({ length: 24 }, (_, hour) => two(hour) + timeOfDay.slice(2));
    }
    if (frequency === 'daily') return [timeOfDay];
    if (frequency === 'weekly') return daysPassed % 7 === 0 ? [timeOfDay] : [];
    const monthsPassed = (today.year - year) * 12 + today.month - month;
    const isDueMonth = monthsPassed % (months[frequency] ?? 1) === 0;
    const dueDay = day > lengthOf(today) ? lengthOf(today) : day;
    return isDueMonth && today.day === dueDay ? [timeOfDay] : [];
  }
}

export interface TimelineEvent {
  /** Written like an anchor. */
  readonly at: string;
  /** `run`: billing runs. `on`, `off`: the merchant turns the plan on or off. */
  readonly what: 'run' | 'on' | 'off';
}

/**
 * The cycles for which a subscriber is charged. The plan is on at first.
 * @param timeline oldest first
 */
export function chargedCycles(
  dueTimes: readonly string[],
  timeline: readonly TimelineEvent[],
  numberOfTimesToCharge: number,
): number[] {
  const charged: number[] = [];
  let isOn = true;
  let onSince = '';
  let seenUpTo = -1;
  for (const { at, what } of timeline) {
    if (what === 'off') isOn = false;
    if (what === 'on') {
      isOn = true;
      onSince = at;
    }
    if (what !== 'run' || charged.length === numberOfTimesToCharge) continue;
    let newest = seenUpTo;
    for (let next = newest + 1; next < dueTimes.length && (dueTimes[next] ?? '') <= at; next += 1)
      newest = next;
    if (newest === seenUpTo) continue;
    // The cycles in between were missed, and are never charged.
    seenUpTo = newest;
    if (isOn && (dueTimes[newest] ?? '') >= onSince) charged.push(newest);
  }
  return charged;
}
