/** The days of a shop begin at the same moment for the console, which has the browser's Intl, and for the server, which has Temporal. */
import { expect, it } from 'vitest';
import { addDays, dayOf, setShopZone, startOfDay } from '../../../console/zone.js';
import * as server from '../../src/core/merchants/time-zone.js';

it('a day begins in the console when it begins on the server, on every day of two years', () => {
  const days = Array.from({ length: 730 }, (_none, index) => addDays('2026-01-01', index));
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')].filter((_zone, index) => index % 6 === 0);
  const differing = zones.flatMap((zone) => {
    setShopZone(zone);
    const isSame = (day: string, noon = Date.parse(`${day}T11:59:59Z`)) =>
      startOfDay(day) === server.startOfDay(zone, day) && dayOf(noon) === server.dayOf(zone, noon);
    return days.flatMap((day) => (isSame(day) ? [] : [`${zone} ${day}`]));
  });
  expect(zones.length).toBeGreaterThan(60);
  expect(differing).toEqual([]);
});
