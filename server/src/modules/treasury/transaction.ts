/** Signs transactions of EVM networks. */
import { Transaction } from 'micro-eth-signer';

/** Amounts in wei. */
export interface UnsignedTransaction {
  readonly chainId: number;
  readonly nonce: number;
  readonly maxPriorityFee: bigint;
  readonly maxFee: bigint;
  readonly gasLimit: bigint;
  readonly to: string;
  readonly data: string;
}

/** @param privateKey 32 bytes @returns the hash, 0x and 64 digits, and what is broadcast */
export function signTransaction(
  { chainId, nonce, maxPriorityFee, maxFee, gasLimit, to, data }: UnsignedTransaction,
  privateKey: Uint8Array,
): { readonly txHash: string; readonly raw: string } {
  const fields = {
    type: 'eip1559',
    chainId: BigInt(chainId),
    nonce: BigInt(nonce),
    maxPriorityFeePerGas: maxPriorityFee,
    maxFeePerGas: maxFee,
    gasLimit,
    to,
    data,
    // A gas key never sends coins.
    value: 0n,
  } as const;
  // Not strict: the limits for input by people do not fit every network. Without extra entropy, a retry signs the same.
  const signed = Transaction.prepare(fields, false).signBy(privateKey, false);
  return { txHash: signed.hash, raw: signed.toHex() };
}
