/** The clock that all rules use: the server's real time, and each merchant's own clock, which a test key can move. */
import type { Scope } from './scope.js';

/**
 * Two kinds of time. Chains, scans, leases, sessions and retention use real time: `chain_cursors.synced_at` and block
 * times are real. A merchant sees times of the merchant's clock: created, locked, expires, first seen, due, billed.
 * Real times are converted before they are stored with, or compared to, a merchant's times.
 */
export interface Clock {
  /** The server's real time, epoch milliseconds. On PostgreSQL, the database's. */
  real(): number;
  /** The time on a merchant's clock, epoch milliseconds: real time, in test mode plus the merchant's offset. */
  now(scope: Scope): number;
  /**
   * The merchant's clock at a real time. -Infinity if the clock was moved later: a chain that was read before the
   * move has not been read up to any deadline that the move has passed.
   */
  at(scope: Scope, realTime: number): number;
}

/** Formats epoch milliseconds as the API does: ISO 8601 in UTC with milliseconds. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
