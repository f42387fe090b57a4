/** Checks that a payment can have been for a transfer: not if it was made before that existed. */
import type { TransferRow } from '../db/schema.js';
import { scopeOf } from '../shared/scope.js';
import type { Clock } from '../shared/clock.js';

export interface PaidAt {
  /** The height of its block; 0 if it is in none yet. */
  readonly height: number;
  /** The time of its block, in epoch milliseconds. */
  readonly time: number;
}

/**
 * The block must be above those that were read when the transfer was made, and that no others have replaced since. Among the
 * rest, the time decides, which blocks have in whole seconds.
 */
export function isAfter(clock: Pick<Clock, 'at'>, { height, time }: PaidAt, transfer: TransferRow): boolean {
  if (height === 0) return true;
  if (transfer.from_height !== null && height <= transfer.from_height) return false;
  const second = (ms: number) => Math.floor(ms / 1000);
  return second(clock.at(scopeOf(transfer), time)) >= second(transfer.created_at);
}
