/** Time zones by their IANA names, and the days of one: they have 23, 24 or 25 hours, and may begin at 01:00. */
import { Temporal } from 'temporal-polyfill';

/** The name as the time zone database writes it; undefined if there is no such zone. */
export function timeZoneOf(name: string): string | undefined {
  // Offsets such as +01:00 are zones too, but none in which a shop keeps its books all year.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
}

export const unknownZone = (name: string) =>
  `"${name}" is not a time zone: use an IANA name such as Europe/Berlin or UTC`;

/** The day of a time, such as `2026-12-31`. */
export const dayOf = (zone: string, time: number): string =>
  Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone).toPlainDate().toString();

/** The first moment of a day, epoch milliseconds. */
export const startOfDay = (zone: string, day: string): number =>
  Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds;

/** @param days may be negative */
export const addDays = (day: string, days: number): string =>
  Temporal.PlainDate.from(day).add({ days }).toString();
