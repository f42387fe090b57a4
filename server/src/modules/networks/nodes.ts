/** The input of each family's chain: how its nodes are asked, and the parts of the server that it uses. */
import type { NodePoolOptions } from './rpc/node-pool.js';
import type { NetworkRef } from '../../core/chains/chain.js';

/** The way in which the nodes of a network are asked. URLs and headers hold credentials: they are never shown. */
export interface NodesConfig
  extends
    NetworkRef,
    Pick<NodePoolOptions<unknown>, 'nodes' | 'headers' | 'timeoutMs' | 'maxBatch' | 'requestsPerMinute'> {
  /** The usual time between blocks; undefined for chains that make blocks only on demand. */
  readonly blockTimeMs?: number | undefined;
}

/** The parts of the server that a chain uses. */
export interface ChainDeps {
  /**
   * The deposit addresses among these; asked once per block. They are in the form shown to payers, but for EVM
   * addresses, which are asked in lower case and must be answered like that, because computing their checksum takes
   * longer than reading the block. `WatchedAddresses.find` does so.
   */
  watched(addresses: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * True if any payment on the network waits for money. Pending transactions, and on some networks the coins that
   * contracts sent, are read only then, because a busy network's have a megabyte at each scan. Always read without it.
   */
  hasOpen?(): Promise<boolean>;
  /** The coins, as `hash:index`, whose spending blocks are to say; none if it is absent. */
  soughtCoins?(): Promise<ReadonlySet<string>>;
  /** Called with news for the operator, such as a node that stopped answering. Never contains a URL. */
  warn?(message: string): void;
  /** Epoch milliseconds; real time by default. */
  readonly now?: (() => number) | undefined;
}
