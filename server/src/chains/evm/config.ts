/** What the EVM adapter is given: the configuration of one network, and what it uses of the server. */
import type { Mode } from '../../shared/scope.js';
import type { ChainAsset } from '../assets.js';

export interface EvmConfig {
  readonly mode: Mode;
  /** The network's code, such as polygon. */
  readonly network: string;
  readonly chainId: number;
  /** JSON-RPC URLs in order of preference. Can contain credentials; never shown. */
  readonly nodes: readonly string[];
  /** Sent with each request, such as a provider's key. Never shown. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly assets: readonly ChainAsset[];
  /**
   * The usual time between blocks. A node whose newest block is older than three of them and a minute is not believed.
   * Undefined for chains that make blocks only on demand.
   */
  readonly blockTimeMs?: number | undefined;
  /** How long one request may take, 15 seconds by default. */
  readonly timeoutMs?: number | undefined;
  /** The most calls in one request, 50 by default. */
  readonly maxBatch?: number | undefined;
  /** What all nodes together may be asked in a minute, each call of a batch counted; no limit by default. */
  readonly requestsPerMinute?: number | undefined;
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
