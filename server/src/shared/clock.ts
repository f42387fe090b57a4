import type { Mode } from './scope.js';
/** The time that rules go by: real in live mode, movable in test mode. */

export interface Clock {
  /** Epoch milliseconds of a mode's clock. */
  now(mode: Mode): number;
}

/** Milliseconds as the API writes them: ISO 8601 in UTC with milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
