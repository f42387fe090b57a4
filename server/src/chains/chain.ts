/** What a blockchain network is to the scanner, simulated or real. */

import type { Mode } from '../shared/scope.js';

/** A network, by its mode and its code: a code may stand for a test network and for a real one. */
export interface NetworkRef {
  readonly mode: Mode;
  readonly network: string;
}

/** A transfer of an asset to one address; a transaction may hold several. */
export interface ChainTransfer {
  readonly txHash: string;
  /** Which output, log or transfer of the transaction. */
  readonly outputIndex: number;
  /** Currency code, such as USDT. Assets that are not configured are not reported. */
  readonly currency: string;
  /** Where from, as far as the chain tells. */
  readonly senders: readonly string[];
  /** The receiving address, in the form that is shown to payers. */
  readonly address: string;
  /** In the smallest unit of the currency. */
  readonly amount: bigint;
}

export interface ChainHead {
  readonly height: number;
  readonly hash: string;
}

export interface ChainBlock extends ChainHead {
  readonly parentHash: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly transfers: readonly ChainTransfer[];
}

/** One network. Every call may fail when the node does; the scanner tries again. */
export interface Chain extends NetworkRef {
  head(signal: AbortSignal): Promise<ChainHead>;
  /** The block at a height of the best chain, or undefined above its head. */
  block(height: number, signal: AbortSignal): Promise<ChainBlock | undefined>;
  /** Transfers that are known but in no block yet. */
  pending(signal: AbortSignal): Promise<readonly ChainTransfer[]>;
}
