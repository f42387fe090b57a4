/** What the EVM adapter is given: the configuration of one network, and what it uses of the server. */
import type { ChainAsset } from '../assets.js';
import type { NodesConfig } from '../config/nodes.js';

/** A node whose newest block is older than three times `blockTimeMs` and a minute is not believed. */
export interface EvmConfig extends NodesConfig {
  readonly chainId: number;
  readonly assets: readonly ChainAsset[];
  /** The most calls in one request, 50 by default. */
  readonly maxBatch?: number | undefined;
}

export interface EvmDeps {
  /**
   * Which of these addresses are deposit addresses; asked once per block. EVM addresses are asked in lower case and must be
   * answered like that, because computing their checksum takes longer than reading the block. `WatchedAddresses.find` does so.
   */
  watched(addresses: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Whether any payment on the network waits for money. Pending transactions, and on some networks what contracts sent, are
   * read only then, because a busy network's have a megabyte at each scan. Always read without it.
   */
  hasOpen?(): Promise<boolean>;
  /** Called with what an operator should know, such as a node that stopped answering. Never contains a URL. */
  warn?(message: string): void;
  /** Epoch milliseconds; real time by default. */
  now?(): number;
}

/** An asset that the adapter does not read, and why. */
export interface AssetProblem {
  readonly currency: string;
  /** One sentence that says what to change. */
  readonly problem: string;
}
