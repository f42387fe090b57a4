/** Asked in the transaction that gives transfers away to be paid, by the modules that do. */
import type { Transaction } from '../../core/db/engine.js';
import type { TransferRow } from '../../core/db/schema.js';
import type { Ledger } from '../../core/ledger/ledger.js';
import { invalidState } from '../../core/shared/problem.js';
import type { WhyHeld } from '../../core/withdrawals/deps.js';

/** Problem: `invalid_state` if one of the transfers must not be paid now. @param exportId of theirs, if they are in one */
export async function ensureDue(
  { ledger, whyHeld }: { readonly ledger: Pick<Ledger, 'balance'>; readonly whyHeld: WhyHeld },
  transaction: Transaction,
  transfers: readonly TransferRow[],
  exportId?: string,
): Promise<void> {
  const locks = transfers.map((row) => [row.merchant_id, row.mode, row.currency] as const);
  const inOrder = [...new Map(locks.map((lock) => [lock.join('/'), lock])).entries()].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  // Whatever confirms or reverses a deposit waits until the transaction ends.
  for (const [, [merchantId, mode, currency]] of inOrder)
    await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
  for (const [id, reason] of await whyHeld(transaction, transfers, exportId))
    throw invalidState(`The transfer ${id} must not be paid now. ${reason}`);
}
