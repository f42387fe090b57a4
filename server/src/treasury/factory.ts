/** Calls of the forwarder factory, and its events. */
import { addressOfWord, hashOfText, selector, word, wordsOf } from '../chains/evm/abi.js';
import type { EvmLog } from '../chains/evm/replies.js';
import { forwarderFactory } from './forwarder-factory.js';

/** Stands for the network's own coin. */
export const nativeToken = `0x${'0'.repeat(40)}`;

/** One token at forwarders of one treasury. */
export interface SweepBatch {
  readonly treasury: string;
  /** The contract, or `nativeToken`. */
  readonly token: string;
  readonly salts: readonly string[];
}

const sweepSelector = selector('sweep((address,address,bytes32[])[])');
const addressSelector = selector('addressOf(address,bytes32)');

/** The call that empties addresses. Anybody may make it. */
export function sweepData(batches: readonly SweepBatch[]): string {
  const parts = batches.map(({ treasury, token, salts }) =>
    [word(treasury), word(token), word(96), word(salts.length), ...salts.map((salt) => word(salt))].join(''),
  );
  const offsets: string[] = [];
  let offset = batches.length * 32;
  for (const part of parts) {
    offsets.push(word(offset));
    offset += part.length / 2;
  }
  return sweepSelector + word(32) + word(batches.length) + offsets.join('') + parts.join('');
}

/** The call that asks the contract for the address of a salt. */
export const addressData = (treasury: string, salt: string): string =>
  addressSelector + word(treasury) + word(salt);

/** keccak256 of the event of a sweep. */
export const sweptTopic = hashOfText('Swept(address,address,address,uint256)');

/** What a forwarder paid to its treasury. Addresses are in lower case. */
export interface Swept {
  readonly forwarder: string;
  readonly treasury: string;
  readonly token: string;
  readonly amount: bigint;
}

/** Undefined for other logs, and for those of other contracts. */
export function readSwept({ address, topics, data }: EvmLog): Swept | undefined {
  const [topic, forwarder, treasury, token] = topics;
  const [amount] = wordsOf(data);
  if (address !== forwarderFactory.address.toLowerCase() || topic !== sweptTopic) return undefined;
  if (forwarder === undefined || treasury === undefined || token === undefined || amount === undefined)
    return undefined;
  return {
    forwarder: addressOfWord(forwarder),
    treasury: addressOfWord(treasury),
    token: addressOfWord(token),
    amount: BigInt(`0x${amount}`),
  };
}
