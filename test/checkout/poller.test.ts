/** The delay between polls. */
import { describe, expect, it } from 'vitest';
import { pollDelayMs } from '../../src/checkout/poller.js';

describe('the delay before the next poll', () => {
  it.each([
    { elapsedMs: 0, failures: 0, delayMs: 2_000 },
    { elapsedMs: 60_000, failures: 0, delayMs: 2_000 },
    { elapsedMs: 120_000, failures: 0, delayMs: 4_000 },
    { elapsedMs: 300_000, failures: 0, delayMs: 10_000 },
    { elapsedMs: 3_600_000, failures: 0, delayMs: 10_000 },
    { elapsedMs: 0, failures: 1, delayMs: 4_000 },
    { elapsedMs: 0, failures: 3, delayMs: 16_000 },
    { elapsedMs: 0, failures: 20, delayMs: 30_000 },
    { elapsedMs: 3_600_000, failures: 1, delayMs: 10_000 },
  ])(
    'is $delayMs ms ± 10 %, $elapsedMs ms after a change and $failures failures',
    ({ delayMs, ...progress }) => {
      expect(pollDelayMs({ ...progress, random: 0.5 })).toBeCloseTo(delayMs);
      expect(pollDelayMs({ ...progress, random: 0 })).toBeCloseTo(delayMs * 0.9);
      expect(pollDelayMs({ ...progress, random: 1 })).toBeCloseTo(delayMs * 1.1);
    },
  );
});
