/** The transactions that the coins of a PSBT came from. */
import type { SpendingAccount } from './account.js';
import type { Outpoint } from '../chains/bitcoin/utxo-node.js';
import type { Reader } from '../db/engine.js';
import type { PsbtNetwork } from './context.js';
import * as store from './psbt-store.js';

/** Hardware wallets check amounts by the transactions that the coins came from. */
export async function previousTransactions(
  reader: Reader,
  to: PsbtNetwork,
  account: SpendingAccount,
  coins: readonly (Outpoint & { readonly height: number | undefined })[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (account.script === 'p2tr') return new Map();
  const heights = new Map(coins.map(({ txHash, height }) => [txHash, height]));
  const found = new Map(await store.ownTransactions(reader, [...heights.keys()]));
  for (const [txHash, height] of heights) {
    if (found.has(txHash)) continue;
    const raw = await to.node.rawTransaction(txHash, height, signal);
    if (raw !== undefined) found.set(txHash, raw);
  }
  return found;
}
