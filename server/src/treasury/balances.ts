/** Reads from a node what lies at many addresses. */
import { hexToBytes } from '@noble/hashes/utils.js';
import { forwarderFactory } from './forwarder-factory.js';
import { word, wordsOf } from '../chains/evm/abi.js';
import type { NodeClient } from '../chains/rpc/node-client.js';
import { NodeError, RpcFailure } from '../chains/rpc/node-error.js';
import type { NodePool } from '../chains/rpc/node-pool.js';

/** So many that a node answers within its gas limit of a call: 250 tokens take up to 10 million. */
const atOnce = 250;

/**
 * The balances of one token at addresses, in the same order, in the units of the chain.
 * @param token the contract, or `nativeToken`
 * @param block a height in hex, or `latest`
 * @throws NodesUnavailable
 */
export function readBalancesAt(
  evm: NodePool,
  token: string,
  addresses: readonly string[],
  block: string,
  signal: AbortSignal,
): Promise<bigint[]> {
  return evm.run((node) => read(node, token, addresses, block, signal), signal);
}

async function read(
  node: NodeClient,
  token: string,
  addresses: readonly string[],
  block: string,
  signal: AbortSignal,
): Promise<bigint[]> {
  const chunks: (readonly string[])[] = [];
  for (let start = 0; start < addresses.length; start += atOnce) {
    chunks.push(addresses.slice(start, start + atOnce));
  }
  const answers = await node.batch(
    chunks.map((chunk) => ({ method: 'eth_call', params: [{ data: readerCall(token, chunk) }, block] })),
    signal,
  );
  return answers.flatMap((answer, index) => {
    if (answer instanceof RpcFailure) throw answer;
    const words = typeof answer === 'string' ? wordsOf(answer) : [];
    if (words.length !== chunks[index]?.length) {
      throw new NodeError('garbage', `${node.name} answered with balances of another number of addresses`);
    }
    return words.map((one) => BigInt(`0x${one}`));
  });
}

function readerCall(token: string, owners: readonly string[]): string {
  const args = [word(token), word(64), word(owners.length), ...owners.map((owner) => word(owner))].join('');
  return forwarderFactory.balanceReader + args;
}

/** Which addresses have code. */
export function readDeployed(
  evm: NodePool,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  return evm.run(async (node) => {
    const answers = await node.batch(
      addresses.map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
      signal,
    );
    return new Set(
      addresses.filter((_, index) => {
        const answer = answers[index];
        if (answer instanceof RpcFailure) throw answer;
        return typeof answer === 'string' && hexToBytes(answer.slice(2)).length > 0;
      }),
    );
  }, signal);
}
