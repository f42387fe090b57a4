/** The configuration of a network that is read from EVM nodes, and what is wrong with it. */
import type { ChainAsset } from '../assets.js';
import type { NodesConfig } from '../config/nodes.js';

/** A node whose newest block is older than three times `blockTimeMs` and a minute is not believed. */
export interface EvmConfig extends NodesConfig {
  readonly chainId: number;
  readonly assets: readonly ChainAsset[];
  /** The most calls in one request, 50 by default. */
  readonly maxBatch?: number | undefined;
}

/** An asset that the adapter does not read, and why. */
export interface AssetProblem {
  readonly currency: string;
  /** One sentence that says what to change. */
  readonly problem: string;
}
