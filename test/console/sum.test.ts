/** Sums of the console: exact, where floats are not. */
import { expect, it } from 'vitest';
import { sumOfDecimals } from '../../console/sum.js';

it.each([
  [[0.1, 0.2], '0.3'],
  [['1234567890123.45', '0.000000000000000001'], '1234567890123.450000000000000001'],
  [[7e-7, 0, 1], '1.0000007'],
  [['-5.5', '5.25'], '-0.25'],
  // Floats give 5.55e-17 here, and lose the last digits of the next two when they are rounded to 8 decimals.
  [[0.1, 0.2, -0.3], '0'],
  [[1e-18, 2e-18], '0.000000000000000003'],
  [[123456789.12345, 0.000000004], '123456789.123450004'],
  [['-0.5', '-0.5'], '-1'],
  [[], '0'],
])('%j is %s in all', (values, sum) => {
  expect(sumOfDecimals(values)).toBe(sum);
});
