/** Writes the versions of a PSBT: the same coins and transfers each, with another fee; and finds the transactions they spend. */
import { buildPsbt } from './build.js';
import { signedHash } from './check.js';
import type { Outpoint } from '../networks/bitcoin/utxo-node.js';
import type { Reader } from '../../core/db/engine.js';
import type { FeePlan } from './coins.js';
import { expectedOf, type PsbtDeps, type Wallet } from './context.js';
import * as store from './psbt-store.js';
import type { StoredPsbt } from './psbt-store.js';
import type { PsbtVersionRow } from './tables.js';

export function newVersion(
  { clock }: Pick<PsbtDeps, 'clock'>,
  psbt: StoredPsbt,
  plan: FeePlan,
  { account }: Wallet,
  rawTransactions: ReadonlyMap<string, string>,
): PsbtVersionRow {
  const amounts = { fee: plan.fee, change_amount: plan.change };
  const payout = expectedOf(psbt, amounts, account);
  return {
    psbt_id: psbt.id,
    number: psbt.versions.length + 1,
    psbt: Buffer.from(buildPsbt(payout, rawTransactions)).toString('base64'),
    ...amounts,
    virtual_size: plan.virtualSize,
    signed_transaction: null,
    tx_hash: signedHash(payout) ?? null,
    imported_at: null,
    block_hash: null,
    block_height: null,
    created_at: clock.real(),
  };
}

/** Hardware wallets check amounts by the transactions that the coins came from. */
export async function previousTransactions(
  reader: Reader,
  { account, node }: Wallet,
  coins: readonly (Outpoint & { readonly height: number | undefined })[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (account.script === 'p2tr') return new Map();
  const heights = new Map(coins.map(({ txHash, height }) => [txHash, height]));
  const found = new Map(await store.ownTransactions(reader, [...heights.keys()]));
  for (const [txHash, height] of heights) {
    if (found.has(txHash)) continue;
    const raw = await node.rawTransaction(txHash, height, signal);
    if (raw !== undefined) found.set(txHash, raw);
  }
  return found;
}
