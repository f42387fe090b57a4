/** The scanner's interface to a blockchain network, simulated or real. */

import type { Mode } from '../shared/scope.js';

/** Identifies a network by mode and code: a test network and a real one can share a code. */
export interface NetworkRef {
  readonly mode: Mode;
  readonly network: string;
}

/** `by all` nodes; `by some`, if the others cannot say; or `by none`, if one has it. */
export type Forgotten = 'by all' | 'by some' | 'by none';

/** Identifies a transfer within its network. */
export type TransferId = Pick<ChainTransfer, 'txHash' | 'outputIndex'>;

/** A transfer of an asset to one address. A transaction can contain several. */
export interface ChainTransfer {
  readonly txHash: string;
  /**
   * The number of the output, log or transfer in the transaction. Negative if only the balance showed the coins:
   * `txHash` is then the hash of a block that had them, and this follows from the address.
   */
  readonly outputIndex: number;
  /** Currency code, such as USDT. Assets that are not configured are not reported. */
  readonly currency: string;
  /** The sending addresses, as far as the chain shows them. */
  readonly senders: readonly string[];
  /** The receiving address, in the form shown to payers. */
  readonly address: string;
  /** In the smallest unit of the currency. */
  readonly amount: bigint;
  /** The amount in the chain's decimals, if they differ from those of the books. */
  readonly chainAmount?: bigint;
  /** If only the balance showed the coins: they came in a block above this height, up to that of the transfer. */
  readonly foundAbove?: number;
}

/** The first index of transfers by the contracts of a transaction, on networks whose nodes report it. */
export const firstContractIndex = 2_000_000;

/** A block by its height and hash. */
export interface BlockId {
  readonly height: number;
  readonly hash: string;
}

export interface ChainHead extends BlockId {
  /**
   * The newest block that cannot be reorganised, as its node says; undefined if that is unknown. It is a claim about one block:
   * it holds for the chain that was read only if that contains the block.
   */
  readonly finalized?: BlockId | undefined;
}

/** A coin that a transaction spends, on networks of Bitcoin's kind. */
export interface SpentCoin {
  /** `hash:index`. */
  readonly coin: string;
  readonly txHash: string;
}

export interface ChainBlock extends BlockId {
  readonly parentHash: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly transfers: readonly ChainTransfer[];
  /** Coins that were looked for and that the block spends. */
  readonly spent?: readonly SpentCoin[];
  /** Currencies that were skipped, because their contracts do not match the configuration. */
  readonly without?: readonly string[];
}

/** A block as one node reports it. */
export interface NodeBlock {
  /** `node 1` for the first of the configuration. */
  readonly node: string;
  /** Nodes with the same one belong to one provider, and count as one. */
  readonly provider: string;
  /** Undefined above its head. */
  readonly block: ChainBlock | undefined;
  /** Up to where it says that blocks are final. */
  readonly finalHeight?: number | undefined;
}

/** The place of a transaction. */
export interface BlockPlace {
  readonly height: number;
  /** True if it is in the block, but had no effect. */
  readonly isFailed: boolean;
}

/** The cost of a transaction. */
export interface TransactionCost {
  /** In the chain's smallest unit of its own coin. */
  readonly fee: bigint;
  /** The payer, in lower case; undefined if the inputs of a transaction paid it together. */
  readonly payer: string | undefined;
}

/** One network. Every call can fail when the node does; the scanner retries. */
export interface Chain extends NetworkRef {
  head(signal: AbortSignal): Promise<ChainHead>;
  /** The block of the best chain at a height; undefined above its head. */
  block(height: number, signal: AbortSignal): Promise<ChainBlock | undefined>;
  /**
   * True if every block after the head will be timed when it is made, not before: so where the server itself makes
   * them. On other chains only a block shows that none is missing before it.
   */
  isMadeHere?(): boolean;
  /** The time that the next block has been overdue, by the last known head; 0 if it is not, or if that is unknown. */
  overdueMs?(): number;
  /**
   * Reads several blocks at once while catching up, for chains that can do so faster than block by block.
   * @returns blocks from `from` on, in order, without gaps; not after `to`, and maybe fewer than that
   */
  blocks?(from: number, to: number, signal: AbortSignal): Promise<readonly ChainBlock[]>;
  /** Requests that its nodes refuse, in their own words, although they can be read; undefined if there are none. */
  limits?(): string | undefined;
  /** Allows a head below the one reported before: somebody has accepted that those blocks are gone. */
  forgetHead?(): void;
  /** The block at a height as each available node reports it. @throws NodesUnavailable if none can */
  blockOfEach?(height: number, signal: AbortSignal): Promise<readonly NodeBlock[]>;
  /** Transfers that are known but not in a block yet. */
  pending(signal: AbortSignal): Promise<readonly ChainTransfer[]>;
  /**
   * By transaction, whether the nodes have forgotten it: none has it waiting, or in a block above a height. Those that nobody was asked
   * about are absent. There is no such method where `pending` is all that there is.
   */
  forgotten?(
    txHashes: readonly string[],
    height: number,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Forgotten>>;
}
