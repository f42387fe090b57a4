/** Prices without Intl are those of Intl, in every language. */
import { describe, expect, test } from 'vitest';
import { formatAmount } from '../../src/money/format.js';
import { englishPrices, priceText, roughPrice } from '../../src/money/price.js';
import { amounts, currencies, styles } from './price-samples.js';

describe.each(Object.entries(styles))('in %s', (tag, style) => {
  test.each(currencies)('Prices in %s are written as Intl writes them', (currency) => {
    for (const amount of amounts)
      expect(priceText(amount, currency, style)).toBe(formatAmount(amount, currency, tag));
  });
});

test.each<[what: string, amount: number | string, currency: string]>([
  ['a negative amount', -5, 'USD'],
  ['an exponent', '1e3', 'USD'],
  ['a comma', '12,50', 'USD'],
  ['a currency with other decimals', 5000, 'JPY'],
  ['a coin', 1, 'USDT'],
])('%s is left to Intl: %s %s', (_what, amount, currency) => {
  expect(priceText(amount, currency, englishPrices['en'])).toBeUndefined();
});

test('A locale without a style is left to Intl', () => {
  expect(priceText(49.9, 'USD', englishPrices['en-CA'])).toBeUndefined();
});

test.each([
  [49.9, 'USD', '49.90\u00a0USD'],
  ['1234.567', 'JPY', '1234.567\u00a0JPY'],
  [12, 'EUR', '12\u00a0EUR'],
  [20, 'USDT', '20.00\u00a0USDT'],
])('The price %s %s is written with its code until Intl is there', (amount, currency, expected) => {
  expect(roughPrice(amount, currency)).toBe(expected);
});
