/** Reads and writes which balances are suspended. */
import { inScope } from '../db/rows.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';

export async function readSuspended(reader: Reader, scope: Scope): Promise<ReadonlySet<string>> {
  const rows = await reader
    .selectFrom('balance_suspensions')
    .select('currency')
    .$call(inScope(scope))
    .execute();
  return new Set(rows.map(({ currency }) => currency));
}

/** Does nothing if the balance is already suspended. */
export async function insertSuspension(
  transaction: Transaction,
  { merchantId, mode }: Scope,
  currency: string,
  now: number,
): Promise<void> {
  await transaction
    .insertInto('balance_suspensions')
    .values({ merchant_id: merchantId, mode, currency, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function deleteSuspension(
  transaction: Transaction,
  { merchantId, mode }: Scope,
  currency: string,
): Promise<void> {
  await transaction
    .deleteFrom('balance_suspensions')
    .where((e) => e.and({ merchant_id: merchantId, mode, currency }))
    .execute();
}
