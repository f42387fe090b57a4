/**
 * ExchangeRate-API's open access, https://www.exchangerate-api.com/docs/free: fiat currencies, once a day.
 *
 * `GET /v6/latest/USD` answers
 * `{"result":"success","time_last_update_unix":1585872397,"time_next_update_unix":1585959987,"base_code":"USD",
 * "rates":{"USD":1,"AED":3.67,…},…}`: how much of each currency one dollar buys. The times are in seconds. The terms ask
 * for an attribution where the rates are shown.
 */
import * as z from 'zod/mini';
import { dollarsOf, type RateSourceAdapter } from './source.js';

const seconds = z.string().check(z.regex(/^\d{1,12}$/));

const latest = z.object({
  result: z.literal('success'),
  base_code: z.literal('USD'),
  time_last_update_unix: seconds,
  time_next_update_unix: z.optional(z.unknown()),
  rates: z.record(z.string(), z.unknown()),
});

export const erApi: RateSourceAdapter = {
  name: 'er-api',
  dollarPrices: 'fiat',
  url: 'https://open.er-api.com',
  markets: [],
  path: () => '/v6/latest/USD',
  // More than one request an hour may be answered with 429.
  intervalMs: 3_600_000,
  read(reply) {
    const { rates, time_last_update_unix: updated, time_next_update_unix: next } = latest.parse(reply);
    return {
      readings: Object.entries(rates).map(([currency, unitsPerDollar]) => ({
        ...dollarsOf(unitsPerDollar),
        market: currency,
        currency,
        quotedIn: 'USD',
        at: Number(updated) * 1000,
      })),
      // Only a hint: without it, the source is asked as often as others of its kind.
      ...(seconds.safeParse(next).success && { nextAt: Number(next) * 1000 }),
    };
  },
};
