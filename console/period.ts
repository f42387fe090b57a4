/** The period of a list: one of the usual ones, which moves with the days, or from one day to another. Days are those of the shop's zone. */
import type { View } from './page.js';
import { addDays, dayOf, monthOf, startOfDay } from './zone.js';

/** Both included. */
export interface Days {
  readonly first: string;
  readonly last: string;
}

export const presets = [
  ...(['today', '7-days', 'month', 'last-month'] as const),
  ...(['quarter', 'last-quarter', 'year', 'last-year'] as const),
] as const;
export type Preset = (typeof presets)[number];

export function daysOf(preset: Preset, today: string): Days {
  const month = Number(today.slice(5, 7)) - 1;
  switch (preset) {
    case 'today':
      return { first: today, last: today };
    case '7-days':
      return { first: addDays(today, -6), last: today };
    case 'month':
      return months(today, 0, 1);
    case 'last-month':
      return months(today, -1, 1);
    case 'quarter':
      return months(today, -(month % 3), 3);
    case 'last-quarter':
      return months(today, -(month % 3) - 3, 3);
    case 'year':
      return months(today, -month, 12);
    case 'last-year':
      return months(today, -month - 12, 12);
    default:
      return preset satisfies never;
  }
}

/** So many whole months. @param from the first one, counted from that of the day */
const months = (day: string, from: number, count: number): Days => ({
  first: monthOf(day, from),
  last: addDays(monthOf(day, from + count), -1),
});

/** The names of a period in the address. */
export const periodNames = ['days', 'from', 'to'] as const;

/** The preset of an address; `custom` for days of one's own; undefined for all times. */
export function chosenPeriod({ query }: Pick<View, 'query'>): Preset | 'custom' | undefined {
  const chosen = query.get('days');
  if (chosen === 'custom' || query.get('from') || query.get('to')) return 'custom';
  return presets.find((one) => one === chosen);
}

/** A day, also of a time, as the links of Home have; the text itself if it is neither. */
export function dayIn(text: string | null): string {
  const time = Date.parse(text ?? '');
  return text === null || isDay(text) || Number.isNaN(time) ? (text ?? '') : dayOf(time);
}

const isDay = (text: string) =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text;

/** The range as lists of the API take it: times in UTC. The server refuses what is no day. */
export function askedRange(view: Pick<View, 'query' | 'now'>): {
  readonly from: string | undefined;
  readonly to: string | undefined;
} {
  const chosen = chosenPeriod(view);
  const start = (day: string) => new Date(startOfDay(day)).toISOString();
  const end = (day: string) => new Date(startOfDay(addDays(day, 1)) - 1).toISOString();
  if (chosen !== undefined && chosen !== 'custom') {
    const { first, last } = daysOf(chosen, dayOf(view.now()));
    return { from: start(first), to: end(last) };
  }
  const [from, to] = [view.query.get('from') || undefined, view.query.get('to') || undefined];
  return {
    from: from !== undefined && isDay(from) ? start(from) : from,
    to: to !== undefined && isDay(to) ? end(to) : to,
  };
}
