/** Exact sums of decimals, which may be negative: the rows of a table add up to its total. */
import { countDecimals, decimalOf } from '../src/contract/decimal.js';
import { fromUnits } from '../src/contract/units.js';

export function sumOfDecimals(values: readonly (number | string)[]): string {
  const texts = values.map((value) => (typeof value === 'number' ? decimalOf(value) : value));
  const decimals = Math.max(0, ...texts.map(countDecimals));
  const units = texts.reduce((sum, text) => {
    const [whole, fraction = ''] = text.split('.');
    return sum + BigInt(whole + fraction.padEnd(decimals, '0'));
  }, 0n);
  return fromUnits(units, decimals);
}
