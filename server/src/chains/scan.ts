/** What a scan hands over, and who takes it: the scanner knows chains, the receipts rule knows payments. */
import type { ChainBlock, ChainHead, ChainTransfer, NetworkRef } from './chain.js';
import type { Transaction } from '../db/engine.js';

/** The difference between what was scanned before and a network's best chain now. */
export interface ScanBatch extends NetworkRef {
  /** Blocks above this height that were scanned before are no longer on the best chain. */
  readonly orphanedAbove: number | undefined;
  /** New blocks of the best chain, oldest first. */
  readonly blocks: readonly ChainBlock[];
  /** All transfers in no block yet, or undefined while catching up, when they were not read. */
  readonly pending: readonly ChainTransfer[] | undefined;
  /** The last scanned block, after this batch. */
  readonly head: ChainHead;
  /** The mode's clock when reading began; with `pending`, everything up to it has been read. */
  readonly syncedAt: number;
}

/** Takes a batch inside the transaction that moves the cursor, so that both happen or neither. */
export interface ScanSink {
  apply(transaction: Transaction, batch: ScanBatch): Promise<void>;
}
