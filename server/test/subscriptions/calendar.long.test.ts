/** The billing calendar, compared with an oracle that goes through its own calendar day by day. */
import { frequencies, type Frequency } from 'crypto-checkout/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { dueAt, newestDue } from '../../src/core/subscriptions/calendar.js';
import { dueTimes } from './oracle.js';

const years = 5;

/** Ends of months in common years and leap years, at the edges of a day and within it. */
const anchors = [
  '2023-01-28T00:00:00.000Z',
  '2023-01-29T12:30:15.250Z',
  '2023-01-30T23:59:59.999Z',
  '2023-01-31T08:00:00.000Z',
  '2023-02-28T23:59:59.999Z',
  '2023-08-31T00:00:00.000Z',
  '2023-11-30T06:00:00.000Z',
  '2023-12-31T23:59:59.999Z',
  '2024-01-31T00:00:00.001Z',
  '2024-02-28T10:00:00.000Z',
  '2024-02-29T18:45:00.000Z',
  '2099-12-31T05:05:05.005Z',
];

const cases = frequencies.flatMap((frequency) => anchors.map((anchor) => ({ frequency, anchor })));
const expectedCount: Readonly<Record<Frequency, number>> = {
  hourly: 43_824,
  daily: 1826,
  weekly: 260,
  monthly: 60,
  quarterly: 20,
  'every six months': 10,
  yearly: 5,
};

/** An hourly plan has many cycles. 37 and 24 have no common divisor, so every hour of the day is still tested. */
const stepOf = (frequency: Frequency) => (frequency === 'hourly' ? 37 : 1);

describe('the billing calendar', () => {
  describe.each(cases)('for 5 years, $frequency from $anchor', ({ frequency, anchor }) => {
    const start = Date.parse(anchor);
    let times: readonly string[] = [];
    /** The cycles that are tested, and when they are due by the oracle. */
    let tested: readonly (readonly [cycle: number, due: string])[] = [];
    beforeAll(() => {
      times = dueTimes(anchor, frequency, years);
      tested = [...times.entries()].filter(([cycle]) => cycle % stepOf(frequency) === 0);
    });

    it('the billing calendar agrees with the oracle', () => {
      expect(times[0]).toBe(anchor);
      expect(Math.abs(times.length - expectedCount[frequency])).toBeLessThanOrEqual(25);
      expect(
        tested.map(([cycle]) => [cycle, new Date(dueAt(start, frequency, cycle)).toISOString()]),
      ).toEqual(tested);
    });

    it('the billing calendar finds the newest cycle that is due', () => {
      const cycles = tested.map(([cycle]) => cycle);
      const newest = (late: number) =>
        tested.map(([, due]) => newestDue(start, frequency, Date.parse(due) + late));
      expect(newest(0)).toEqual(cycles);
      expect(newest(-1)).toEqual(cycles.map((cycle) => cycle - 1));
    });
  });

  it.each([
    ['2024-01-31T10:00:00Z', 'monthly', 1, '2024-02-29T10:00:00.000Z'],
    ['2024-01-31T10:00:00Z', 'monthly', 2, '2024-03-31T10:00:00.000Z'],
    ['2023-01-31T10:00:00Z', 'monthly', 1, '2023-02-28T10:00:00.000Z'],
    ['2023-01-29T10:00:00Z', 'monthly', 13, '2024-02-29T10:00:00.000Z'],
    ['2023-11-30T10:00:00Z', 'quarterly', 1, '2024-02-29T10:00:00.000Z'],
    ['2023-08-31T10:00:00Z', 'every six months', 1, '2024-02-29T10:00:00.000Z'],
    ['2024-02-29T10:00:00Z', 'yearly', 1, '2025-02-28T10:00:00.000Z'],
    ['2024-02-29T10:00:00Z', 'yearly', 4, '2028-02-29T10:00:00.000Z'],
    ['2096-02-29T10:00:00Z', 'yearly', 4, '2100-02-28T10:00:00.000Z'],
    ['2024-03-31T00:30:00Z', 'hourly', 2, '2024-03-31T02:30:00.000Z'],
    ['2024-02-22T10:00:00Z', 'weekly', 2, '2024-03-07T10:00:00.000Z'],
    ['2024-02-28T10:00:00Z', 'daily', 1, '2024-02-29T10:00:00.000Z'],
  ] as const)('the billing calendar from %s, %s, has cycle %i at %s', (anchor, frequency, cycle, due) => {
    expect(new Date(dueAt(Date.parse(anchor), frequency, cycle)).toISOString()).toBe(due);
  });
});
