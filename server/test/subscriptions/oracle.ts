/**
 * What billing must do, told independently of how it does it: a calendar that is ticked through day by day from
 * the lengths of the months alone, and the rules of charging as a plain story of what happens at each look.
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

/** How many months lie between two charges, where a frequency goes by months. */
const months: Partial<Record<Frequency, number>> = {
  monthly: 1,
  quarterly: 3,
  'every six months': 6,
  yearly: 12,
};

/**
 * When the cycles from an anchor on are due, for so many years.
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

/** What happens to a plan and to billing, in the order of time; `at` is written like an anchor. */
export interface Happening {
  readonly at: string;
  /** `look`: billing runs. `on`, `off`: the merchant turns the plan on or off. */
  readonly what: 'look' | 'on' | 'off';
}

/** The cycles that a subscriber is charged for by a plan that is on at first. */
export function chargedCycles(
  dueTimes: readonly string[],
  happenings: readonly Happening[],
  numberOfTimesToCharge: number,
): number[] {
  const charged: number[] = [];
  let isOn = true;
  let onSince = '';
  let seenUpTo = -1;
  for (const { at, what } of happenings) {
    if (what === 'off') isOn = false;
    if (what === 'on') {
      isOn = true;
      onSince = at;
    }
    if (what !== 'look' || charged.length === numberOfTimesToCharge) continue;
    let newest = seenUpTo;
    for (let next = newest + 1; next < dueTimes.length && (dueTimes[next] ?? '') <= at; next += 1)
      newest = next;
    if (newest === seenUpTo) continue;
    // Whatever lies between was missed, and is not charged any more.
    seenUpTo = newest;
    if (isOn && (dueTimes[newest] ?? '') >= onSince) charged.push(newest);
  }
  return charged;
}
