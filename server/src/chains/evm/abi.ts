/** Encodes calls of contracts and decodes their words, as far as this server makes any. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';

/** The keccak256 of a text, such as that of an event: 0x and 64 digits. */
export const hashOfText = (text: string): string => `0x${hex.encode(keccak_256(utf8ToBytes(text)))}`;

/** The first four bytes of a call, such as of `transfer(address,uint256)`. */
export const selector = (signature: string): string => hashOfText(signature).slice(0, 10);

/** An address, a number or 32 bytes as one word, without 0x. */
export function word(value: bigint | number | string): string {
  if (typeof value !== 'string') return BigInt(value).toString(16).padStart(64, '0');
  return value.slice(2).toLowerCase().padStart(64, '0');
}

/** The words of a reply or of a log's data. */
export function wordsOf(data: string): string[] {
  return data.slice(2).match(/.{64}/g) ?? [];
}

/** The address in a word, in lower case. */
export const addressOfWord = (text: string): string => `0x${text.slice(-40).toLowerCase()}`;

const transferSelector = selector('transfer(address,uint256)');

/** ERC-20 `transfer`. */
export const transferData = (to: string, amount: bigint): string =>
  transferSelector + word(to) + word(amount);
