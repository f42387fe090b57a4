/** What sends money on a network, simulated or real. */
import type { NetworkRef } from './chain.js';

export interface Withdrawal {
  readonly currency: string;
  /** In the network's canonical form. */
  readonly address: string;
  /** In the smallest unit of the currency. */
  readonly amount: bigint;
  /** What the merchant pays for it, in the same unit: the most that the network may take. */
  readonly fee: bigint;
}

/** A transaction that only has to be sent. */
export interface SignedTransaction {
  readonly txHash: string;
  /** Text that the signer reads back. */
  readonly payload: string;
  /** What the network takes in the currency that is sent, in its smallest unit; 0 where it takes another coin. */
  readonly networkFee: bigint;
}

/**
 * Signs and sends on one network. A transaction is known by its hash: sending the same one again, by whatever
 * process and however often, moves money once.
 */
export interface Signer extends NetworkRef {
  /** Makes a new transaction each time it is called. It asks no node: it runs inside a database transaction. */
  sign(withdrawal: Withdrawal): SignedTransaction;
  /** Hands a transaction to the network. @throws TransactionRefused; any other error says nothing about its fate */
  broadcast(transaction: Pick<SignedTransaction, 'txHash' | 'payload'>, signal: AbortSignal): Promise<void>;
  /** Confirmations by hash, 0 while a transaction waits for a block; those that the network does not know are absent. */
  confirmations(txHashes: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
}

/** The network will never take this transaction: no node, not later. The message is for the merchant. */
export class TransactionRefused extends Error {
  override readonly name = 'TransactionRefused';
}
