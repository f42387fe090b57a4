/** The shop's time zone: all times are shown in it, and a day in a filter is one of its days, wherever the reader is. */

interface Zone {
  readonly name: string;
  readonly parts: Intl.DateTimeFormat;
}

const clockParts = {
  hourCycle: 'h23',
  calendar: 'gregory',
  numberingSystem: 'latn',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
} as const satisfies Intl.DateTimeFormatOptions;

/** A name that this browser does not know, such as a new one, becomes UTC, which the page then names. */
function zoneOf(name: string): Zone {
  try {
    return { name, parts: new Intl.DateTimeFormat('en', { ...clockParts, timeZone: name }) };
  } catch {
    return { name: 'UTC', parts: new Intl.DateTimeFormat('en', { ...clockParts, timeZone: 'UTC' }) };
  }
}

let current = zoneOf('UTC');

/** @param name IANA name */
export function setShopZone(name: string): void {
  if (name !== current.name) current = zoneOf(name);
}

export const shopZone = (): string => current.name;

/** The zone of a browser, of which not every name is known. */
const named = (zone: string | undefined): Zone =>
  zone === undefined || zone === current.name ? current : zoneOf(zone);

const dayMs = 86_400_000;

/** The reading of the zone's clocks at a time, as if it were UTC. Whole seconds. */
function wallClock({ parts }: Zone, time: number): number {
  const read: Record<string, number> = {};
  for (const { type, value } of parts.formatToParts(time)) read[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = read;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

const offsetAt = (zone: Zone, time: number): number => wallClock(zone, time) - Math.floor(time / 1000) * 1000;

const isoDay = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The day of a time, such as `2026-12-31`. */
export const dayOf = (time: number, zone?: string): string => isoDay(wallClock(named(zone), time));

/** @param days may be negative */
export const addDays = (day: string, days: number): string => isoDay(Date.parse(day) + days * dayMs);

/** The first day of the month that is so many months later. @param months may be negative */
export const monthOf = (day: string, months = 0): string =>
  isoDay(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1 + months));

/** The first moment of a day: clocks that go forward at midnight skip it, and those that go back after it have two. */
export function startOfDay(day: string, zone?: string): number {
  const known = named(zone);
  const midnight = Date.parse(day);
  const [before, after] = [offsetAt(known, midnight - dayMs), offsetAt(known, midnight + dayMs)];
  const found = [midnight - before, midnight - after].filter((time) => wallClock(known, time) === midnight);
  return found.length > 0 ? Math.min(...found) : midnight - before;
}

/** `Asia/Kolkata (UTC+05:30)`, by its clocks at a time. */
export function describeZone(time: number, zone?: string): string {
  const known = named(zone);
  const minutes = Math.round(offsetAt(known, time) / 60_000);
  if (known.name === 'UTC') return 'UTC';
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${known.name} (UTC${minutes < 0 ? '−' : '+'}${two(size / 60)}:${two(size % 60)})`;
}
