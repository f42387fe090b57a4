/** The interface between the scanner, which knows chains, and the receipts rule, which knows payments. */
import type { BlockId, ChainBlock, ChainTransfer, NetworkRef, TransferId } from '../chains/chain.js';
import type { Reader, Transaction } from '../db/engine.js';

/** Identifies a transfer within its network. */
export function transferKey(txHash: string, outputIndex: number): string {
  return `${txHash}:${outputIndex}`;
}

const keys = new WeakMap<TransferId, string>();

/**
 * The key of a transfer. It is made once: while a flood of transfers is pending, making and hashing their keys again
 * would take most of each scan.
 */
export function keyOf(transfer: TransferId): string {
  const known = keys.get(transfer);
  if (known !== undefined) return known;
  const key = transferKey(transfer.txHash, transfer.outputIndex);
  keys.set(transfer, key);
  return key;
}

/** The transfers that are not in a block yet, and how they differ from those of the last batch. */
export interface PendingTransfers {
  readonly transfers: readonly ChainTransfer[];
  /** Transfers that were not pending in the last batch; all of them if the last batch is unknown. */
  readonly appeared: readonly ChainTransfer[];
  /**
   * Transfers that were pending in the last batch, and no longer are; undefined unless this process applied that batch
   * and nothing has happened since.
   */
  readonly gone: readonly TransferId[] | undefined;
  /** Transfers that count as pending although the chain did not return them. */
  readonly kept?: readonly TransferId[];
  /** True if the transfer with a key is pending, or was kept. */
  has(key: string): boolean;
}

/** A receipt in a block, which counts only when two nodes have confirmed it. */
export interface UncheckedReceipt extends Pick<
  ChainTransfer,
  'txHash' | 'outputIndex' | 'currency' | 'address'
> {
  /** In the chain's own decimals. */
  readonly chainAmount: bigint;
  readonly id: string;
  readonly height: number;
  readonly blockHash: string;
  /** Its block must be final: who confirms it must say so too. */
  readonly needsFinality: boolean;
}

/** A receipt that two nodes have confirmed in a block. */
export type CheckedReceipt = Pick<UncheckedReceipt, 'id' | 'blockHash'>;

/** The difference between the previous scan and a network's best chain now. */
export interface ScanBatch extends NetworkRef {
  /** Previously scanned blocks above this height are no longer on the best chain; undefined if all still are. */
  readonly orphanedAbove: number | undefined;
  /** New blocks of the best chain, oldest first. */
  readonly blocks: readonly ChainBlock[];
  /** Receipts that two nodes have confirmed since the last batch. */
  readonly checked: readonly CheckedReceipt[];
  /** Undefined if they were not read, as while catching up. */
  readonly pending: PendingTransfers | undefined;
  /**
   * Real time up to which every block had been read before this batch: its blocks cannot have been there then. 0 if that is
   * unknown, as for blocks that are read again, or that replace others.
   */
  readonly readBefore: number;
  /** When the scan reached the newest block before this batch, by our clock; undefined for blocks that are read again. */
  readonly syncedBefore?: number;
  /** The last scanned block, after this batch. */
  readonly head: BlockId;
  /** Blocks of the scanned chain up to this height are final; undefined if that is unknown. */
  readonly finalHeight: number | undefined;
}

/** Applies a batch in the transaction that moves the cursor, so that either both happen or neither. */
export interface ScanSink {
  /** @returns `more` if some of the work was left for the next scan, which should follow at once */
  apply(transaction: Transaction, batch: ScanBatch): Promise<'complete' | 'more'>;
  /** The transfers that a batch would drop; none if it is absent. */
  missing?(
    reader: Reader,
    batch: Pick<ScanBatch, 'mode' | 'network' | 'orphanedAbove' | 'blocks'> & {
      readonly pending: PendingTransfers;
    },
  ): Promise<readonly TransferId[]>;
  /** True if a batch should be applied even if nothing on the network has changed. */
  hasDue(reader: Reader, network: NetworkRef): Promise<boolean>;
  /** The receipts that are deep enough, and wait for a second node to confirm them; none if it is absent. */
  unchecked?(
    reader: Reader,
    place: NetworkRef & Pick<ScanBatch, 'head' | 'finalHeight'>,
  ): Promise<readonly UncheckedReceipt[]>;
}
