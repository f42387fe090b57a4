/** What a sweep costs: the price of gas now, and the gas that it takes. */
import { word } from '../chains/evm/abi.js';
import { quantityOf, parseHeader } from '../chains/evm/replies.js';
import { isObject } from '../chains/rpc/node-client.js';
import { RpcFailure } from '../chains/rpc/node-error.js';
import type { NodePool } from '../chains/rpc/node-pool.js';

/** In wei per gas. */
export interface GasPrice {
  readonly baseFee: bigint;
  readonly priorityFee: bigint;
}

/** What `npm run bench -- sweeps` measured, rounded up: see docs/treasury.md. */
export const sweepGas = {
  /** An address that is deployed by the sweep, and one that was deployed before. */
  first: 70_000n,
  later: 25_000n,
} as const;

/** Networks that are built on the OP stack answer with what the data of a transaction costs beside its gas. */
const opStackOracle = '0x420000000000000000000000000000000000000F';
const getL1Fee = '0x49948e0e';

/** @throws NodesUnavailable */
export async function readGasPrice(evm: NodePool, signal: AbortSignal): Promise<GasPrice> {
  return evm.run(async (node) => {
    const [block, price, tip] = await node.batch(
      [
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_gasPrice', params: [] },
        { method: 'eth_maxPriorityFeePerGas', params: [] },
      ],
      signal,
    );
    if (block instanceof RpcFailure) throw block;
    if (price instanceof RpcFailure) throw price;
    parseHeader(block);
    const gasPrice = quantityOf(price);
    const base =
      isObject(block) && typeof block['baseFeePerGas'] === 'string' ? quantityOf(block['baseFeePerGas']) : 0n;
    // Nodes that do not tell a tip still tell a price that gets into a block.
    const priorityFee =
      tip instanceof RpcFailure ? (gasPrice > base ? gasPrice - base : 0n) : quantityOf(tip);
    return { baseFee: base, priorityFee };
  }, signal);
}

/** What the data of a call costs beside its gas, in wei; 0 on most networks. @throws NodesUnavailable */
export async function readDataFee(evm: NodePool, data: string, signal: AbortSignal): Promise<bigint> {
  return evm.run(async (node) => {
    const bytes = data.slice(2);
    const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0');
    const call = getL1Fee + word(32) + word(bytes.length / 2) + padded;
    const [answer] = await node.batch(
      [{ method: 'eth_call', params: [{ to: opStackOracle, data: call }, 'latest'] }],
      signal,
    );
    return typeof answer === 'string' && /^0x[0-9a-f]{64}$/i.test(answer) ? BigInt(answer) : 0n;
  }, signal);
}
