/** The calls of the forwarder factory, and its events. */
import { hexToBytes } from '@noble/hashes/utils.js';
import { createContract, events } from 'micro-eth-signer/abi.js';
import { hexOf } from '../networks/evm/abi.js';
import { forwarderFactory } from '../../core/addresses/forwarder-factory.js';
import type { EvmLog } from '../networks/evm/replies.js';

/** Stands for the network's own coin. */
export const nativeToken = `0x${'0'.repeat(40)}`;

/** One token at forwarders of one treasury. */
export interface SweepBatch {
  readonly treasury: string;
  /** The contract, or `nativeToken`. */
  readonly token: string;
  readonly salts: readonly string[];
}

const address = 'address';
const factory = createContract([
  {
    type: 'function',
    name: 'sweep',
    inputs: [
      {
        name: 'batches',
        type: 'tuple[]',
        components: [
          { name: 'treasury', type: address },
          { name: 'token', type: address },
          { name: 'salts', type: 'bytes32[]' },
        ],
      },
    ],
  },
  {
    type: 'function',
    name: 'addressOf',
    inputs: [
      { name: 'treasury', type: address },
      { name: 'salt', type: 'bytes32' },
    ],
  },
] as const);

const { Swept: swept } = events([
  {
    type: 'event',
    name: 'Swept',
    inputs: [
      { name: 'forwarder', type: address, indexed: true },
      { name: 'treasury', type: address, indexed: true },
      { name: 'token', type: address, indexed: true },
      { name: 'amount', type: 'uint256', indexed: false },
    ],
  },
] as const);

const bytesOf = (hex: string): Uint8Array => hexToBytes(hex.slice(2));

/** The call that empties addresses. Anybody may make it. */
export const sweepData = (batches: readonly SweepBatch[]): string =>
  hexOf(factory.sweep.encodeInput(batches.map((batch) => ({ ...batch, salts: batch.salts.map(bytesOf) }))));

/** The call that asks the contract for the address of a salt. */
export const addressData = (treasury: string, salt: string): string =>
  hexOf(factory.addressOf.encodeInput({ treasury, salt: bytesOf(salt) }));

/** keccak256 of the event of a sweep. */
export const sweptTopic =
  swept.topics({ forwarder: null, treasury: null, token: null, amount: null })[0] ?? '';

/** A forwarder's payment to its treasury, and the place of its log. Addresses are in lower case. */
export type SweptLog = NonNullable<ReturnType<typeof readSwept>>;

/** Undefined for other logs, and for those of other contracts. */
export function readSwept({ address: contract, topics, data, ...log }: EvmLog) {
  if (contract !== forwarderFactory.address.toLowerCase() || topics[0] !== sweptTopic) return undefined;
  const { transactionHash: txHash, logIndex, height, blockHash } = log;
  return { ...swept.decode([...topics], data), txHash, logIndex, height, blockHash };
}
