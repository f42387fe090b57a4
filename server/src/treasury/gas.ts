/** What a sweep costs beside the price of gas: the gas that it takes, and what its data costs on layer 2. */
import { hexToBytes } from '@noble/hashes/utils.js';
import { createContract } from 'micro-eth-signer/abi.js';
import { hexOf } from '../chains/evm/abi.js';
import { unlessRefused, type EvmClient } from '../chains/evm/client.js';

/** What `npm run bench -- sweeps` measured, rounded up: see docs/treasury.md. */
export const sweepGas = {
  /** An address that is deployed by the sweep, and one that was deployed before. */
  first: 70_000n,
  later: 25_000n,
} as const;

/** Networks that are built on the OP stack answer with what the data of a transaction costs beside its gas. */
const opStackOracle = '0x420000000000000000000000000000000000000F';
const oracle = createContract([
  {
    type: 'function',
    name: 'getL1Fee',
    inputs: [{ name: 'data', type: 'bytes' }],
    outputs: [{ name: 'fee', type: 'uint256' }],
  },
] as const);

/** What the data of a call costs beside its gas, in wei; 0 on most networks. */
export async function readDataFee(evm: EvmClient, data: string): Promise<bigint> {
  const call = hexOf(oracle.getL1Fee.encodeInput(hexToBytes(data.slice(2))));
  const answer = await unlessRefused(evm.call({ to: opStackOracle, data: call }));
  return answer?.length === 66 ? BigInt(answer) : 0n;
}
