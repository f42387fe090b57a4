/** Amounts are copied as plain decimals. */
import { describe, expect, test } from 'vitest';
import { plainAmount } from '../../src/money/amount-due.js';

describe('plainAmount', () => {
  test.each([
    [7e-7, '0.0000007'],
    [0.0000007, '0.0000007'],
    [1.23e-8, '0.0000000123'],
    [1e21, '1000000000000000000000'],
    [1.5e21, '1500000000000000000000'],
    [123456789012345, '123456789012345'],
    [123456789.012345, '123456789.012345'],
    [0.12345678, '0.12345678'],
    [1234.5, '1234.5'],
    [0, '0'],
  ])('An amount of %s is copied as %s', (value, expected) => {
    expect(plainAmount(value)).toBe(expected);
    expect(Number(plainAmount(value))).toBe(value);
  });
});
