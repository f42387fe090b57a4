/** Calls and events of contracts, as hex. */
import { bytesToHex } from '@noble/hashes/utils.js';
import { createContract, ERC20 } from 'micro-eth-signer/abi.js';

export const hexOf = (bytes: Uint8Array): string => `0x${bytesToHex(bytes)}`;

const erc20 = createContract(ERC20);

/** ERC-20 `decimals()`. */
export const decimalsData = hexOf(erc20.decimals.encodeInput());

/** ERC-20 `balanceOf`. */
export const balanceData = (owner: string): string => hexOf(erc20.balanceOf.encodeInput(owner));

/** ERC-20 `transfer`. */
export const transferData = (to: string, amount: bigint): string =>
  hexOf(erc20.transfer.encodeInput({ to, value: amount }));

/** An address as the topic of a log. */
export const topicOf = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;

/** The address in a word of 32 bytes, in lower case. */
export const addressOfWord = (word: string): string => `0x${word.slice(-40).toLowerCase()}`;
