/** A clock for tests of single parts: every merchant's clock shows the same time. */
import type { Clock } from '../../src/core/shared/clock.js';

/** @param now epoch milliseconds */
export function clockAt(now: () => number): Clock {
  return { real: now, now, at: (_scope, realTime) => realTime };
}
