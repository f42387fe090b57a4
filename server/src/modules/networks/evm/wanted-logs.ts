/** The logs that are looked for in blocks, and the bloom filter that shows if a block can have them. */
import { hexToBytes } from '@noble/hashes/utils.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { EvmLog } from './replies.js';

/** Logs of any of these contracts. Everything is in lower case. */
export interface WantedLogs {
  readonly address: readonly string[];
  /** By position: a topic, or one of several. */
  readonly topics: readonly (string | readonly string[])[];
}

export const isWanted = ({ address, topics }: EvmLog, wanted: readonly WantedLogs[]): boolean =>
  wanted.some(
    (one) =>
      one.address.includes(address) &&
      one.topics.every((topic, position) => choicesOf(topic).includes(topics[position] ?? '')),
  );

/** True if a block's bloom filter has some of these logs. False negatives are impossible. */
export function mayHaveLogs(logsBloom: string, wanted: readonly WantedLogs[]): boolean {
  const bloom = hexToBytes(logsBloom.slice(2));
  return wanted.some(({ address, topics }) =>
    [...topics.map(choicesOf), address].every((choices) => choices.some((one) => isInBloom(bloom, one))),
  );
}

const choicesOf = (topic: string | readonly string[]): readonly string[] =>
  typeof topic === 'string' ? [topic] : topic;

/** Yellow Paper, section 4.3.1: three bits, each from two bytes of the Keccak-256 hash. */
function isInBloom(bloom: Uint8Array, hex: string): boolean {
  const hash = keccak_256(hexToBytes(hex.slice(2)));
  return [0, 2, 4].every((place) => {
    const bit = (((hash[place] ?? 0) << 8) | (hash[place + 1] ?? 0)) & 2047;
    return ((bloom[255 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0;
  });
}
