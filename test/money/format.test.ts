/** Amounts keep all their digits in every language. */
import { describe, expect, test } from 'vitest';
import { formatAmount } from '../../src/money/format.js';

/** Intl uses several kinds of spaces and invisible marks. */
const normalized = (text: string) => text.replace(/[\s\u202f]/g, ' ').replace(/[\u200e\u200f\u061c]/g, '');

describe('formatAmount', () => {
  test.each([
    [0.0000007, 'BTC', 'en', '0.0000007 BTC'],
    [7e-7, 'BTC', 'de', '0,0000007 BTC'],
    [7e-7, 'BTC', 'fr', '0,0000007 BTC'],
    [7e-7, 'BTC', 'ar-EG', '0.0000007 BTC'],
    [0.00000001, 'LTC', 'en', '0.00000001 LTC'],
    [1e21, 'TRX', 'en', '1,000,000,000,000,000,000,000 TRX'],
    [1.5e21, 'TRX', 'de', '1.500.000.000.000.000.000.000 TRX'],
    [123456789012345, 'USDT', 'en', '123,456,789,012,345.00 USDT'],
    [123456789.012345, 'USDT', 'en', '123,456,789.012345 USDT'],
    [123456789.012345, 'USDT', 'de', '123.456.789,012345 USDT'],
    [123456789.012345, 'USDT', 'fr', '123 456 789,012345 USDT'],
    [123456789.012345, 'USDT', 'ar-EG', '123,456,789.012345 USDT'],
    ['0.123456789012345678', 'ETH', 'en', '0.123456789012345678 ETH'],
    [
      '1234567890123456789.123456789012345678',
      'ETH',
      'en',
      '1,234,567,890,123,456,789.123456789012345678 ETH',
    ],
    [0.1 + 0.2, 'POL', 'en', '0.30000000000000004 POL'],
    [3.25, 'USDC', 'en', '3.25 USDC'],
    [0, 'BNB', 'en', '0 BNB'],
  ])('An amount of %s %s in %s has all its digits', (value, currency, locale, expected) => {
    expect(normalized(formatAmount(value, currency, locale))).toBe(expected);
  });

  test.each([
    [5000, 'NGN', 'en-NG', '₦5,000.00'],
    [5000, 'NGN', 'en', 'NGN 5,000.00'],
    [1234.5, 'USD', 'en', '$1,234.50'],
    [1234.5, 'EUR', 'de', '1.234,50 €'],
    [1234.5, 'EUR', 'fr', '1 234,50 €'],
    [1234.5, 'EUR', 'ar-EG', '١٬٢٣٤٫٥٠ €'],
    [5000, 'JPY', 'en', '¥5,000'],
    [1.5, 'KWD', 'en', 'KWD 1.500'],
    ['1234567890123.45', 'USD', 'en', '$1,234,567,890,123.45'],
  ])('A price of %s %s in %s has its symbol and minor digits', (value, currency, locale, expected) => {
    expect(normalized(formatAmount(value, currency, locale))).toBe(expected);
  });

  test.each([
    [0.00001, 'USD', '$0.00001'],
    [5000.5, 'JPY', '¥5,000.5'],
    [0.005, 'USD', '$0.005'],
  ])('A price of %s %s is not rounded to the minor digits', (value, currency, expected) => {
    expect(formatAmount(value, currency, 'en')).toBe(expected);
  });

  test('The number and the code stay on one line', () => {
    expect(formatAmount(1, 'BTC', 'en')).toBe('1\u00a0BTC');
  });
});
