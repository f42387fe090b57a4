/** Calls and events of contracts, as hex. */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
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

const wallet = createContract([
  {
    type: 'function',
    name: 'isValidSignature',
    inputs: [
      { name: 'hash', type: 'bytes32' },
      { name: 'signature', type: 'bytes' },
    ],
    outputs: [{ name: 'magic', type: 'bytes4' }],
  },
] as const);

/** EIP-1271 `isValidSignature`. */
export const isValidSignatureData = (hash: string, signature: string): string =>
  hexOf(
    wallet.isValidSignature.encodeInput({
      hash: hexToBytes(hash.slice(2)),
      signature: hexToBytes(signature.slice(2)),
    }),
  );

/** The result of `isValidSignature` for a signature that the contract accepts as its own. */
export const validSignature = `0x1626ba7e${'0'.repeat(56)}`;

/** An address as the topic of a log. */
export const topicOf = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;

/** The address in a word of 32 bytes, in lower case. */
export const addressOfWord = (word: string): string => `0x${word.slice(-40).toLowerCase()}`;
