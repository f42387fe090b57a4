import { describe, expect, it } from 'vitest';
import { toUnits } from 'crypto-checkout/contract';
import { createCurrencies } from '../../src/core/money/currencies.js';
import { feeOf, payableAmount } from '../../src/core/payments/quote.js';
import { unitsToNumber, formatUnits } from '../../src/core/money/units.js';
import { convert, type Rate } from '../../src/core/money/rates.js';
import { currencies } from '../../src/core/money/currency-list.js';

const { known } = createCurrencies(currencies, []);
const dollars = (numerator: bigint, denominator = 1n): Rate => ({
  numerator,
  denominator,
  source: 'test',
  at: 0,
});

const rows = [
  { base: '5000', of: 'NGN', at: dollars(1n, 1540n), to: 'USDT', price: dollars(1n), text: '3.25' },
  { base: '0.01', of: 'USD', at: dollars(1n), to: 'BTC', price: dollars(92_000n), text: '0.00000011' },
  { base: '0.01', of: 'NGN', at: dollars(1n, 1540n), to: 'USDC', price: dollars(1n), text: '0.01' },
  { base: '12.5', of: 'USD', at: dollars(1n), to: 'USDC', price: dollars(9999n, 10_000n), text: '12.51' },
  { base: '100', of: 'USD', at: dollars(1n), to: 'USDT', price: dollars(1n), text: '100' },
  { base: '100', of: 'USD', at: dollars(1n), to: 'ETH', price: dollars(3n), text: '33.33333334' },
  { base: '10', of: 'EUR', at: dollars(100n, 86n), to: 'LTC', price: dollars(95n), text: '0.12239903' },
  // A double cannot hold 16 digits exactly, so the amount is rounded up to 15.
  {
    base: '9999999999999.99',
    of: 'USD',
    at: dollars(1n),
    to: 'TRX',
    price: dollars(285n, 1000n),
    text: '35087719298245.6',
  },
] as const;

describe('the payable amount', () => {
  it.each(rows)('The amount of $base $of in $to is $text', ({ base, of, at, to, price, text }) => {
    const sum = { units: toUnits(base, known(of).decimals), currency: known(of), rate: at };
    expect(formatUnits(payableAmount(sum, known(to), price), known(to))).toBe(text);
  });

  it.each(rows)('The amount of $base $of in $to covers the price by less than one rounding step', (row) => {
    const from = { rate: row.at, decimals: known(row.of).decimals };
    const asset = { rate: row.price, decimals: known(row.to).decimals };
    const units = toUnits(row.base, from.decimals);
    const amount = payableAmount({ units, currency: known(row.of), rate: row.at }, known(row.to), row.price);
    expect(convert(amount, asset, from, 'down')).toBeGreaterThanOrEqual(units);
    const digits = amount.toString().length;
    const step = 10n ** BigInt(Math.max(asset.decimals - known(row.to).payableDecimals, digits - 15, 0));
    expect(convert(amount - step, asset, from, 'up')).toBeLessThanOrEqual(units);
  });

  it('The amount survives the round trip through a JSON number', () => {
    for (const row of rows) {
      const sum = { units: toUnits(row.base, 2), currency: known(row.of), rate: row.at };
      const amount = payableAmount(sum, known(row.to), row.price);
      expect(unitsToNumber(amount, known(row.to))).toBe(Number(formatUnits(amount, known(row.to))));
      expect(Number(JSON.stringify(unitsToNumber(amount, known(row.to))))).toBe(Number(row.text));
    }
  });
});

describe('the fee', () => {
  it.each([
    [100n, 100, 1n],
    [99n, 100, 0n],
    [3_246_754n, 100, 32_467n],
    [10n ** 30n, 250, 25n * 10n ** 27n],
    [500n, 0, 0n],
  ])('The fee on %s units at %s basis points is %s', (units, basisPoints, fee) => {
    expect(feeOf(units, basisPoints)).toBe(fee);
  });
});
