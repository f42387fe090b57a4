/** Whether anybody may be about to pay. */
import type { Reader } from '../db/engine.js';
import { isPayable } from '../db/payment-status.js';
import type { Mode } from '../shared/scope.js';

/**
 * Whether anybody may be about to pay in a mode, on whichever network: a payment waits for money, or a wallet has an address.
 */
export async function isAnyoneExpected(reader: Reader, mode: Mode): Promise<boolean> {
  const payment = await reader
    .selectFrom('payments')
    .select('id')
    .where(isPayable)
    .where('mode', '=', mode)
    .where('address', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (payment) return true;
  const wallet = await reader
    .selectFrom('wallets')
    .select('id')
    .where('mode', '=', mode)
    .limit(1)
    .executeTakeFirst();
  return wallet !== undefined;
}
