/** The delay before a retry that a reply asks for. */
import { expect, test } from 'vitest';
import { parseRetryAfter } from '../../src/contract/retry-after.js';

const now = Date.parse('2026-01-01T00:00:00Z');

test.each<[string | null | undefined, number | undefined]>([
  ['0', 0],
  ['7', 7000],
  [' 120 ', 120_000],
  ['Thu, 01 Jan 2026 00:01:30 GMT', 90_000],
  ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
])('%j is %j milliseconds', (header, expected) => {
  expect(parseRetryAfter(header, now)).toBe(expected);
});
