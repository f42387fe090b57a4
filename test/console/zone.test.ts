/** The shop's days, as a browser counts them from its own list of zones. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  addDays,
  dayOf,
  describeZone,
  monthOf,
  setShopZone,
  shopZone,
  startOfDay,
} from '../../console/zone.js';
import { askedRange, daysOf } from '../../console/period.js';

afterEach(() => setShopZone('UTC'));

const hourMs = 3_600_000;
const iso = (time: number) => new Date(time).toISOString();

describe('A day of the shop', () => {
  it.each([
    ['a day', 'Europe/Berlin', '2026-01-15', '2026-01-14T23:00:00.000Z', 24],
    ['clocks go forward', 'Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', 23],
    ['clocks go back', 'Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', 25],
    ['clocks go back, west', 'America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
    ['half an hour', 'Asia/Kolkata', '2026-06-01', '2026-05-31T18:30:00.000Z', 24],
    ['three quarters', 'Asia/Kathmandu', '2026-06-01', '2026-05-31T18:15:00.000Z', 24],
    ['clocks move by half an hour', 'Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', 24.5],
    ['midnight is skipped', 'Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z', 23],
    ['midnight comes twice', 'America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
    ['first of all', 'Pacific/Kiritimati', '2026-12-31', '2026-12-30T10:00:00.000Z', 24],
  ])('A day begins and ends by the clocks of its zone: %s, %s, %s', (_case, zone, day, start, hours) => {
    setShopZone(zone);
    expect([iso(startOfDay(day)), (startOfDay(addDays(day, 1)) - startOfDay(day)) / hourMs]).toEqual([
      start,
      hours,
    ]);
    expect([dayOf(startOfDay(day)), dayOf(startOfDay(day) - 1)]).toEqual([day, addDays(day, -1)]);
  });

  it('The shop’s zone is UTC, and is named so, in a browser that does not know it', () => {
    setShopZone('Europe/Berlin');
    setShopZone('Europe/Atlantis');
    expect([shopZone(), describeZone(0)]).toEqual(['UTC', 'UTC']);
  });

  it.each([
    ['Asia/Kolkata', '2026-01-01', 'Asia/Kolkata (UTC+05:30)'],
    ['America/St_Johns', '2026-01-01', 'America/St_Johns (UTC−03:30)'],
    ['Europe/Berlin', '2026-07-01', 'Europe/Berlin (UTC+02:00)'],
  ])('A zone is named with its distance to UTC: %s', (zone, day, name) => {
    expect(describeZone(Date.parse(day), zone)).toBe(name);
  });
});

describe('A period', () => {
  it.each([
    ['today', '2026-03-29', '2026-03-29', '2026-03-29'],
    ['7-days', '2026-03-03', '2026-02-25', '2026-03-03'],
    ['month', '2028-02-10', '2028-02-01', '2028-02-29'],
    ['last-month', '2026-03-31', '2026-02-01', '2026-02-28'],
    ['last-month', '2026-01-01', '2025-12-01', '2025-12-31'],
    ['quarter', '2026-01-01', '2026-01-01', '2026-03-31'],
    ['quarter', '2026-06-30', '2026-04-01', '2026-06-30'],
    ['last-quarter', '2026-02-28', '2025-10-01', '2025-12-31'],
    ['last-quarter', '2026-12-31', '2026-07-01', '2026-09-30'],
    ['year', '2026-11-27', '2026-01-01', '2026-12-31'],
    ['last-year', '2028-02-29', '2027-01-01', '2027-12-31'],
  ] as const)('The period %s has the right first and last day on %s', (preset, today, first, last) => {
    expect(daysOf(preset, today)).toEqual({ first, last });
  });

  const ask = (search: string, now = '2026-10-25T22:30:00Z') =>
    askedRange({ query: new URLSearchParams(search), now: () => Date.parse(now) });

  it('A period is requested in UTC, to its last millisecond, also when the clocks change', () => {
    setShopZone('Europe/Berlin');
    expect(ask('days=today')).toEqual({ from: '2026-10-24T22:00:00.000Z', to: '2026-10-25T22:59:59.999Z' });
    expect(ask('days=today', '2026-10-25T23:00:00Z')).toEqual({
      from: '2026-10-25T23:00:00.000Z',
      to: '2026-10-26T22:59:59.999Z',
    });
    expect(ask('from=2026-03-29&to=2026-03-29')).toEqual({
      from: '2026-03-28T23:00:00.000Z',
      to: '2026-03-29T21:59:59.999Z',
    });
    expect(ask('days=custom&to=2026-03-29')).toEqual({ from: undefined, to: '2026-03-29T21:59:59.999Z' });
  });

  it('Times and invalid days stay as they are, and an unknown period has no bounds', () => {
    setShopZone('Asia/Kolkata');
    expect(ask('from=2025-12-31T23:00:00.000Z&to=2026-02-30')).toEqual({
      from: '2025-12-31T23:00:00.000Z',
      to: '2026-02-30',
    });
    expect(ask('')).toEqual({ from: undefined, to: undefined });
    expect(ask('days=yesterday')).toEqual({ from: undefined, to: undefined });
  });

  it('A month begins on its first day, not 30 days ago', () => {
    expect([monthOf('2026-03-31'), monthOf('2026-03-31', -1), monthOf('2026-12-31', 1)]).toEqual([
      ...['2026-03-01', '2026-02-01', '2027-01-01'],
    ]);
  });
});
