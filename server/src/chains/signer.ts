/** The interface for sending money on a network, simulated or real. */
import type { NetworkRef } from './chain.js';

export interface Withdrawal {
  readonly currency: string;
  /** In canonical form. */
  readonly address: string;
  /** In the smallest unit of the currency. */
  readonly amount: bigint;
  /** The merchant's fee, in the same unit: the most that the network may take. */
  readonly fee: bigint;
}

/** A transaction that is ready to be broadcast. */
export interface SignedTransaction {
  readonly txHash: string;
  /** The signed transaction, as text in the signer's own format. */
  readonly payload: string;
  /** What the network takes, in the smallest unit of the currency that is sent; 0 if it takes another coin. */
  readonly networkFee: bigint;
}

/**
 * Signs and broadcasts on one network. A transaction is identified by its hash: however often and by whichever process
 * the same one is broadcast, it moves money once.
 */
export interface Signer extends NetworkRef {
  /** Creates a new transaction on every call. Asks no node, because it runs inside a database transaction. */
  sign(withdrawal: Withdrawal): SignedTransaction;
  /**
   * Sends a transaction to the network.
   * @throws TransactionRefused if the network will never accept it. After any other error, it may have been accepted
   */
  broadcast(transaction: Pick<SignedTransaction, 'txHash' | 'payload'>, signal: AbortSignal): Promise<void>;
  /** Confirmations by hash, 0 while a transaction waits for a block. Unknown transactions are absent. */
  confirmations(txHashes: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
}

/** No node will accept this transaction, now or later. The message is for the merchant. */
export class TransactionRefused extends Error {
  override readonly name = 'TransactionRefused';
}
