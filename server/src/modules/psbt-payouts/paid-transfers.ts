/** Compares a transaction that spends the coins of a PSBT with the transfers of that PSBT: it may have paid them in another form. */
import { hex } from '@scure/base';
import type { Spender } from '../networks/bitcoin/utxo-node.js';
import type { SpendingAccount } from './account.js';
import { scriptOfAddress } from './build.js';
import { expectedOf } from './context.js';
import type { Claim, StoredPsbt } from './psbt-store.js';

/**
 * Ids of the transfers that the transaction pays, whatever its inputs, its change and the order of its outputs. Each output pays one
 * transfer only, and none that another transfer claims.
 */
export function transfersPaid(
  spender: Pick<Spender, 'outputs'>,
  psbt: StoredPsbt,
  account: SpendingAccount,
  claims: readonly Claim[],
): ReadonlySet<string> {
  const newest = psbt.versions.at(-1);
  if (!newest) return new Set();
  const left = [...spender.outputs];
  function take(script: Uint8Array, isMeant: (amount: bigint) => boolean): boolean {
    const place = left.findIndex((one) => one.script === hex.encode(script) && isMeant(one.amount));
    if (place < 0) return false;
    left.splice(place, 1);
    return true;
  }
  for (const { address, amount } of claims) {
    take(scriptOfAddress(address, account.prefixes), (found) => found === amount);
  }
  const { outputs } = expectedOf(psbt, newest, account);
  const wanted = psbt.transfers.flatMap((transfer, position) => {
    const output = outputs[position];
    return output ? [{ transfer, output }] : [];
  });
  const paid = wanted.filter(({ output }) => take(output.script, (found) => found === output.amount));
  // A wallet that raises the fee of one that bears it pays less.
  const reduced = wanted.filter(
    (one) =>
      one.transfer.bears_fee &&
      !paid.includes(one) &&
      take(one.output.script, (found) => found > 0n && found < one.transfer.amount),
  );
  return new Set([...paid, ...reduced].map(({ transfer }) => transfer.id));
}

/** Those among them that are still to be paid by the books. */
export const unsettledOf = ({ transfers }: StoredPsbt, pays: ReadonlySet<string>): string[] =>
  transfers
    .filter(({ id, status }) => pays.has(id) && (status === 'pending' || status === 'processing'))
    .map(({ id }) => id);

/** A sentence that says how to settle what a transaction has paid. */
export const settleFirst = (
  { txHash, height }: Pick<Spender, 'txHash' | 'height'>,
  ids: readonly string[],
): string =>
  `The transaction ${txHash} in block ${height}, which has spent its coins, pays ${ids.join(', ')}. Run transfers settle ID --tx-hash ${txHash} --block ${height} for each`;
