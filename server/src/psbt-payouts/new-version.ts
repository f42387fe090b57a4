/** Writes the versions of a PSBT: the same coins and transfers each, with another fee. */
import type { SpendingAccount } from './account.js';
import { buildPsbt } from './build.js';
import { signedHash } from './check.js';
import type { PsbtVersionTable } from '../db/schema.js';
import type { FeePlan } from './coins.js';
import { outpointOf } from './outpoints.js';
import { expectedOf, paidAmounts, type PsbtDeps } from './context.js';
import type { StoredPsbt } from './psbt-store.js';

export function newVersion(
  { clock }: Pick<PsbtDeps, 'clock'>,
  psbt: StoredPsbt,
  plan: FeePlan,
  account: SpendingAccount,
  rawTransactions: ReadonlyMap<string, string>,
): PsbtVersionTable {
  const amounts = { fee: plan.fee.toString(), change_amount: plan.change.toString() };
  const paid = paidAmounts(psbt, amounts);
  const bytes = buildPsbt(
    {
      inputs: psbt.inputs.map((input) => ({
        ...outpointOf(input),
        amount: BigInt(input.amount),
        branch: input.branch,
        index: input.derivation_index,
      })),
      outputs: psbt.transfers.map(({ address }, position) => ({ address, amount: paid[position] ?? 0n })),
      change:
        plan.change > 0n && psbt.change_index !== null
          ? { index: psbt.change_index, amount: plan.change }
          : undefined,
    },
    account,
    rawTransactions,
  );
  return {
    psbt_id: psbt.id,
    number: psbt.versions.length + 1,
    psbt: Buffer.from(bytes).toString('base64'),
    ...amounts,
    virtual_size: plan.virtualSize,
    signed_transaction: null,
    tx_hash: signedHash(expectedOf(psbt, amounts, account)) ?? null,
    imported_at: null,
    block_hash: null,
    block_height: null,
    created_at: clock.real(),
  };
}
