/** What is left of the coins that a merchant was ever paid. */
import type { UtxoNode } from '../chains/bitcoin/utxo-node.js';
import { chunksOf } from '../db/chunks.js';
import type { Reader } from '../db/engine.js';
import type { Scope } from '../shared/scope.js';
import { outpointOf } from './outpoints.js';
import { coinsEver } from './psbt-store.js';

export interface Holder {
  readonly scope: Scope;
  readonly network: string;
  readonly currency: string;
}

/** How many outputs are looked up at once. */
const coinsAtOnce = 100;

/**
 * In satoshis: confirmed deposits and the change of settled PSBTs, as far as no block spends them.
 * @throws NodesUnavailable
 */
export async function sumUnspent(
  reader: Reader,
  node: UtxoNode,
  { scope, network, currency }: Holder,
  signal: AbortSignal,
): Promise<bigint> {
  const coins = await coinsEver(reader, scope, network, currency);
  let total = 0n;
  for (const chunk of chunksOf(coins, coinsAtOnce)) {
    const found = await node.unspent(chunk.map(outpointOf), false, signal);
    for (const coin of found) total += coin?.amount ?? 0n;
  }
  return total;
}
