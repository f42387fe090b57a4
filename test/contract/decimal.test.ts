/** Decimals: parsed, formatted, and converted to smallest units. */
import { describe, expect, it } from 'vitest';
import { countDecimals, decimalOf, parseDecimal } from '../../src/contract/decimal.js';
import { fromUnits, toUnits } from '../../src/contract/units.js';

describe('parseDecimal', () => {
  it.each<[given: number | string, expected: string]>([
    [0, '0'],
    [-0, '0'],
    [5000, '5000'],
    [0.1, '0.1'],
    [7e-7, '0.0000007'],
    [1.5e-7, '0.00000015'],
    [999999999999999, '999999999999999'],
    [1234567.12345678, '1234567.12345678'],
    ['5000', '5000'],
    [' 12.5 ', '12.5'],
    ['1.50', '1.5'],
    ['1.000', '1'],
    ['007', '7'],
    ['00.5', '0.5'],
    ['0.0000007', '0.0000007'],
    ['0.00000012345678', '0.00000012345678'],
    ['123456789012345', '123456789012345'],
    ['1234567890123.45', '1234567890123.45'],
  ])('parseDecimal parses %j as %s', (given, expected) => {
    expect(parseDecimal(given)).toBe(expected);
  });

  it.each<number | string>([
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -1,
    -7e-7,
    1e21,
    1e15,
    1234567890123456,
    'NaN',
    'Infinity',
    '',
    ' ',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1,000',
    '1 000',
    '1.',
    '.5',
    '1.2.3',
    '١٢',
    '1234567890123456',
    '1.234567890123456',
    '12345678.12345678',
    1e308,
    1e-300,
    5e-324,
  ])('parseDecimal rejects %j', (given) => {
    expect(parseDecimal(given)).toBeUndefined();
  });

  it('parseDecimal takes text of 40 characters, and no longer text', () => {
    expect(parseDecimal(`0.${'0'.repeat(37)}1`)).toBe(`0.${'0'.repeat(37)}1`);
    expect(parseDecimal(`1.${'0'.repeat(38)}`)).toBe('1');
    expect(parseDecimal(`1.${'0'.repeat(39)}`)).toBeUndefined();
    expect(parseDecimal(`${'0'.repeat(40)}1`)).toBeUndefined();
    expect(parseDecimal(`1${' '.repeat(40)}`)).toBeUndefined();
  });

  it.each([
    ['zeros before a one', `0.${'0'.repeat(95_000)}1`],
    ['zeros', '0'.repeat(95_000)],
    ['nines', '9'.repeat(95_000)],
    ['spaces', `1${' '.repeat(95_000)}1`],
  ])('parseDecimal refuses 95,000 %s before it reads them', (_name, given) => {
    const before = process.cpuUsage();
    for (let index = 0; index < 20; index += 1) expect(parseDecimal(given) === undefined).toBe(true);
    const { user, system } = process.cpuUsage(before);
    // Reading them again from each place would take minutes.
    expect((user + system) / 1000).toBeLessThan(1000);
  });
});

describe('decimalOf', () => {
  it.each<[number, string]>([
    [0, '0'],
    [7e-7, '0.0000007'],
    [1.25e-10, '0.000000000125'],
    [1e21, '1000000000000000000000'],
    [1.5e22, '15000000000000000000000'],
    [3.246754, '3.246754'],
    [-7e-7, '-0.0000007'],
  ])('decimalOf formats %d as %s', (value, expected) => {
    expect(decimalOf(value)).toBe(expected);
  });

  it('decimalOf restores every decimal that the API can write', () => {
    const written = ['0.00000001', '0.000001', '21000000', '999999.99999999', '123456789012345', '0.1'];
    expect(written.map((decimal) => decimalOf(Number(decimal)))).toEqual(written);
  });
});

describe('units', () => {
  it.each<[decimal: string, decimals: number, units: bigint]>([
    ['0', 6, 0n],
    ['1', 0, 1n],
    ['1.5', 6, 1_500_000n],
    ['0.00000001', 8, 1n],
    ['0.5', 18, 500_000_000_000_000_000n],
    ['123456789012345', 18, 123_456_789_012_345_000_000_000_000_000_000n],
  ])('%s with %d decimals is %d and back', (decimal, decimals, units) => {
    expect(toUnits(decimal, decimals)).toBe(units);
    expect(fromUnits(units, decimals)).toBe(decimal);
  });

  it('fromUnits formats negative units, which occur in the ledger but not in requests', () => {
    expect(fromUnits(-1_500_000n, 6)).toBe('-1.5');
    expect(fromUnits(-1n, 8)).toBe('-0.00000001');
  });

  it.each<[string, number]>([
    ['1.234', 2],
    ['0.1', 0],
    ['1e3', 6],
    ['-1', 6],
    ['', 6],
    ['1,5', 6],
  ])('toUnits rejects %j with %d decimals', (decimal, decimals) => {
    expect(() => toUnits(decimal, decimals)).toThrow(RangeError);
  });

  it.each<[string, number]>([
    ['1', 0],
    ['1.5', 1],
    ['0.0000007', 7],
  ])('countDecimals of %s is %d', (decimal, decimals) => {
    expect(countDecimals(decimal)).toBe(decimals);
  });
});
