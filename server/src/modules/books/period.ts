/** The period of an export: whole days of a named zone, and when it is over for good. */
import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../core/shared/clock.js';
import { invalidField } from '../../core/shared/problem.js';
import type { Scope } from '../../core/shared/scope.js';
import { timeZoneOf, unknownZone } from '../../core/merchants/time-zone.js';

export interface AskedPeriod {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly month?: string | undefined;
  readonly zone: string;
}

export interface Period {
  /** Epoch milliseconds: the first moment, and the first one after it. */
  readonly from: number;
  readonly to: number;
  readonly firstDay: string;
  readonly lastDay: string;
  /** As the time zone database writes it. */
  readonly zone: string;
}

/**
 * So long after its end, nothing is added to a period any more: rates that value its last bookings are taken, and
 * transactions that began before its end are committed, or given up.
 */
const finalAfterMs = 15 * 60_000;

/** Days begin when the clocks of the zone say so, whatever summer time does. Problem: `validation_error`. */
export function readPeriod({ from, to, month, zone: name }: AskedPeriod): Period {
  const zone = readZone(name);
  if (month !== undefined && (from !== undefined || to !== undefined)) {
    throw invalidField('month', 'Give a month, or from and to, not both');
  }
  if (month === undefined && (from === undefined || to === undefined)) {
    throw invalidField('from', 'Give from and to, two days such as 2026-12-01 and 2026-12-31, or a month');
  }
  const first = month === undefined ? readDay('from', from ?? '') : readMonth(month).toPlainDate({ day: 1 });
  const last = month === undefined ? readDay('to', to ?? '') : first.add({ months: 1 }).subtract({ days: 1 });
  if (Temporal.PlainDate.compare(first, last) > 0) throw invalidField('from', 'Must not be after "to"');
  // A day at either end begins in a year of five digits, or before year 0, in some zone: no reply can have such a time.
  for (const [field, { year }] of Object.entries({ from: first, to: last })) {
    if (year < 1 || year > 9998)
      throw invalidField(month === undefined ? field : 'month', 'Give a day from 0001-01-01 to 9998-12-31');
  }
  const startOf = (day: Temporal.PlainDate) => day.toZonedDateTime(zone).epochMilliseconds;
  return {
    from: startOf(first),
    to: startOf(last.add({ days: 1 })),
    firstDay: first.toString(),
    lastDay: last.toString(),
    zone,
  };
}

/** @param now on the merchant's clock */
export const isFinal = ({ to }: Pick<Period, 'to'>, now: number): boolean => now >= to + finalAfterMs;

/** As `isFinal`, by a test clock too: transactions that began before it was moved may still be running. */
export const isFinalSinceMoved = (clock: Clock, { to }: Pick<Period, 'to'>, scope: Scope): boolean =>
  clock.at(scope, clock.real() - finalAfterMs) >= to;

function readZone(name: string): string {
  const zone = timeZoneOf(name);
  if (zone === undefined) throw invalidField('zone', unknownZone(name));
  return zone;
}

function readDay(field: 'from' | 'to', text: string): Temporal.PlainDate {
  try {
    if (/^\d{4}-\d\d-\d\d$/.test(text)) return Temporal.PlainDate.from(text, { overflow: 'reject' });
  } catch {
    // Reported below.
  }
  throw invalidField(field, `"${text}" is not a day: write it as 2026-12-31`);
}

function readMonth(text: string): Temporal.PlainYearMonth {
  try {
    if (/^\d{4}-\d\d$/.test(text)) return Temporal.PlainYearMonth.from(text, { overflow: 'reject' });
  } catch {
    // Reported below.
  }
  throw invalidField('month', `"${text}" is not a month: write it as 2026-12`);
}

/** Offsets change at full quarters of an hour. */
const quarterMs = 15 * 60_000;

/** Writes times as clocks in a zone show them. */
export function localTimes(zone: string) {
  let quarter = Number.NaN;
  let offsetMs = 0;
  return (time: number): { readonly localDate: string; readonly localTime: string } => {
    const current = Math.floor(time / quarterMs);
    if (current !== quarter) {
      const zoned = Temporal.Instant.fromEpochMilliseconds(current * quarterMs).toZonedDateTimeISO(zone);
      offsetMs = zoned.offsetNanoseconds / 1_000_000;
      quarter = current;
    }
    const iso = new Date(time + offsetMs).toISOString().slice(0, -1);
    return { localDate: iso.slice(0, 10), localTime: iso + offsetText(offsetMs) };
  };
}

function offsetText(offsetMs: number): string {
  const minutes = Math.abs(Math.round(offsetMs / 60_000));
  const two = (number: number) => String(number).padStart(2, '0');
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

const dayMs = 86_400_000;

/** The first moment after the UTC day of a time. */
export const endOfDay = (time: number): number => (Math.floor(time / dayMs) + 1) * dayMs;
