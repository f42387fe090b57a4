/** The clock that all rules use: real time in live mode, adjustable in test mode. */
import type { Mode } from './scope.js';

export interface Clock {
  /** The current time of a mode's clock, in epoch milliseconds. */
  now(mode: Mode): number;
}

/** Formats epoch milliseconds as the API does: ISO 8601 in UTC with milliseconds. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
