/** Decides if a refund holds, sends or has sent its coins. */
import type { RefundStatus } from 'crypto-checkout/contract';

/** True if the coins of a refund with this status are set apart, on their way, or gone. */
export function hasTaken(status: RefundStatus): boolean {
  return !['awaiting_address', 'cancelled', 'expired', 'failed'].includes(status);
}
