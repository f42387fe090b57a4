/** Duration of confirmations. */
import { expect, test } from 'vitest';
import { minutesFor } from '../../src/views/minutes.js';

test.each([
  [600, 2, 20],
  [150, 6, 15],
  [12, 12, 3],
  [1, 2, 1],
])('blocks of %i s, %i times, take %i min', (blockSeconds, blocks, minutes) => {
  expect(minutesFor(blockSeconds, blocks)).toBe(minutes);
});
