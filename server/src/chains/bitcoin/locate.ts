/** Finds the block of a transaction, for payments that the merchant's own wallet says it has made. */
import { isObject, type NodeClient } from '../rpc/node-client.js';
import { RpcFailure } from '../rpc/node-error.js';
import { createBitcoinNodes, rpcCodes, unknownForm, unlessError } from './bitcoin-nodes.js';
import type { BitcoinConfig } from './config.js';
import { isHash, isHeight } from './transactions.js';

/** How many outputs of the transaction are looked for. A wallet's payment usually has two. */
const outputs = 20;

/**
 * The height of the block that a transaction is in; undefined if it waits for one, or the node does not find it. Without
 * `txindex=1`, a node finds a transaction in a block only as long as one of its outputs is unspent.
 * @param txHash 64 lower-case hexadecimal digits
 * @throws NodesUnavailable if no node answers
 */
export function locateTransaction(
  config: BitcoinConfig,
  txHash: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (!isHash(txHash)) return Promise.resolve(undefined);
  return createBitcoinNodes(config).run(async (node) => {
    const call = node.call('getrawtransaction', [txHash, 1], signal);
    const transaction = await unlessError(call, rpcCodes.unknown);
    if (transaction === undefined) return locateByOutputs(node, txHash, signal);
    if (!isObject(transaction)) throw unknownForm(node, 'getrawtransaction');
    const { blockhash } = transaction;
    return isHash(blockhash) ? heightOf(node, blockhash, signal) : undefined;
  }, signal);
}

async function locateByOutputs(
  node: NodeClient,
  txHash: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const found = await node.batch(
    Array.from({ length: outputs }, (_, index) => ({ method: 'gettxout', params: [txHash, index, false] })),
    signal,
  );
  for (const output of found) {
    if (output instanceof RpcFailure) throw output;
    if (!isObject(output)) continue;
    const { bestblock, confirmations } = output;
    if (!isHash(bestblock) || !isHeight(confirmations)) throw unknownForm(node, 'gettxout');
    const head = await heightOf(node, bestblock, signal);
    return head - confirmations + 1;
  }
  return undefined;
}

async function heightOf(node: NodeClient, hash: string, signal: AbortSignal): Promise<number> {
  const header = await node.call('getblockheader', [hash], signal);
  const height = isObject(header) ? header['height'] : undefined;
  if (!isHeight(height)) throw unknownForm(node, 'getblockheader');
  return height;
}
