/** The worth of balances in the shop's currency: exact, with the age of its rate, or without a rate. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { currencies } from '../../src/core/money/currency-list.js';
import { parsePositive } from '../../src/core/money/fractions.js';
import type { Rate, RateSource } from '../../src/core/money/rates.js';
import { worthOf } from '../../src/core/money/worth.js';
import { sqlite } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const now = Date.parse('2026-11-27T12:00:00Z');
const rate = (price: string, ageSeconds: number): Rate => {
  const parsed = parsePositive(price);
  if (!parsed) throw new Error(`${price} is no price`);
  return { ...parsed, source: 'test', at: now - ageSeconds * 1000 };
};
const known: Readonly<Record<string, Rate>> = {
  USD: rate('1', 0),
  USDC: rate('1.0001', 10),
  EUR: rate('1.0870652173913043478260869565', 180),
  ETH: rate('3050', 5),
  NGN: rate('0.00064935064935064935', 7200),
};
const rates: RateSource = { latest: (code) => known[code] };
const find = (code: string) => {
  const found = currencies.find((one) => one.code === code);
  if (!found) throw new Error(code);
  return found;
};
const worth = (units: bigint, from: string, to: string) => worthOf(units, find(from), find(to), rates, now);

describe('The worth of an amount', () => {
  it.each([
    ['USDC', 'EUR', 1_000_000_000n, '920', '0.92', 180],
    ['USDC', 'USD', 1n, '0', '1.0001', 10],
    ['USDC', 'USD', 123_456_789_012_345_678n, '123469134691.25', '1.0001', 10],
    ['USDC', 'USD', -5_000_000n, '-5', '1.0001', 10],
    ['ETH', 'NGN', 1n, '0', '4697000', 7200],
    ['NGN', 'ETH', 100n, '0.000000212901852246', '0.00000021290185', 7200],
    ['EUR', 'EUR', 12_345n, '123.45', '1', 0],
  ])('The worth is exact: of %s in %s, %s units', (from, to, units, amount, price, rateAgeSeconds) => {
    expect(worth(units, from, to)).toEqual({ currency: to, amount, rate: price, rateAgeSeconds });
  });

  it('The worth of an amount is unknown without a rate of either currency', () => {
    const nothing = { amount: null, rate: null, rateAgeSeconds: null };
    expect(worth(1n, 'TRX', 'EUR')).toEqual({ currency: 'EUR', ...nothing });
    expect(worth(1n, 'USDC', 'GBP')).toEqual({ currency: 'GBP', ...nothing });
  });
});

describe('Balances', () => {
  let server: TestServer;
  let merchant: Shop;
  let missing = '';
  // Old enough to have an age, and new enough for a price to be locked.
  const at = Date.now() - 90_000;
  const ageSeconds = () => Math.floor((Date.now() - at) / 1000);
  beforeAll(async () => {
    const latest = (code: string) =>
      code === missing ? undefined : { ...rate('2', 0), at, maxAgeMs: 600_000 };
    server = await startServer({ engine: sqlite, overrides: { rates: { latest } } });
    merchant = openShop(server);
  });
  afterAll(() => server.stop());

  it('A balance has its worth in the currency of the books, if there is anything', async () => {
    const { address, amount } = await merchant.lock();
    await merchant.pay(address, amount);
    const worths = async () => {
      const all = await merchant.ask<{ currency: string; worth?: object }[]>('GET', '/v1/balances');
      return all.filter(({ worth: value }) => value !== undefined);
    };
    expect(await worths()).toMatchObject([
      { currency: 'USDT', worth: { currency: 'USD', amount: '9.9', rate: '1' } },
    ]);
    await merchant.command('merchants', 'update', server.bootstrapped.merchantId, '--books-currency', 'EUR');
    await expect
      .poll(worths, { timeout: 10_000 })
      .toMatchObject([{ currency: 'USDT', worth: { currency: 'EUR', amount: '9.9' } }]);
    const youngest = ageSeconds();
    const [{ worth: value } = {}] = await worths();
    const { rateAgeSeconds } = value as { rateAgeSeconds: number };
    expect(youngest).toBeGreaterThanOrEqual(90);
    expect(rateAgeSeconds).toBeGreaterThanOrEqual(youngest);
    expect(rateAgeSeconds).toBeLessThanOrEqual(ageSeconds());
    missing = 'USDT';
    expect(await worths()).toMatchObject([
      { currency: 'USDT', worth: { currency: 'EUR', amount: null, rate: null, rateAgeSeconds: null } },
    ]);
  });
});
