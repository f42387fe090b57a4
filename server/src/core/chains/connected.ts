/** Networks with nodes. A module reads their configuration and connects them; the core has only the simulated ones. */
import type { Logger } from 'pino';
import type { Mode } from '../shared/scope.js';
import type { ChainAsset } from './assets.js';
import type { BlockPlace, Chain, TransactionCost } from './chain.js';
import type { Network } from './networks.js';
import type { NodeFault } from './nodes-unavailable.js';

/** A network of the configuration. The module that connects it adds its nodes, with `declare module`. */
export interface ConfiguredNetwork {
  /** The part of it that the rest of the server knows. */
  readonly network: Network;
  readonly blockSeconds: number;
  /** Keyed by currency code. */
  readonly chainAssets: Readonly<Record<string, ChainAsset>>;
}

/** The parts of the server that a connection uses. */
export interface ConnectDeps {
  readonly log: Logger;
  /** Real time, epoch milliseconds. */
  readonly now: () => number;
  /**
   * The deposit addresses of a mode among these. Answered as they are asked: in the form shown to payers, or, for EVM
   * addresses, in lower case.
   */
  watched(mode: Mode, addresses: readonly string[]): Promise<ReadonlySet<string>>;
  /** The coins, as `hash:index`, whose spending must be reported: on networks of Bitcoin's kind. */
  soughtCoins?(mode: Mode, network: string): Promise<ReadonlySet<string>>;
  /** True if anyone may be about to pay in a mode. */
  isAnyoneExpected(mode: Mode): Promise<boolean>;
}

/** One result of a check of a network's nodes. */
export interface NetworkFinding {
  /** `node 1`, or the network's code for something about all its nodes. */
  readonly subject: string;
  /** `problem`: payments cannot be read. `warning`: they can, with the loss that the text names. */
  readonly kind: 'ok' | 'warning' | 'problem';
  readonly text: string;
  /** The only currency that it concerns, if it is not the whole network. */
  readonly currency?: string;
}

/** The core's questions to a network's nodes. The module that connects it adds those of modules. */
export interface Connection {
  readonly chain: Chain;
  /** Currencies that must not be offered, because their contract does not match the configuration. */
  readonly unreadable: () => ReadonlySet<string>;
  readonly status: () => ConnectionStatus;
  /**
   * The block that a transaction is in; undefined if the nodes know of none.
   * @param txHash lower case, without 0x
   * @throws NodesUnavailable
   */
  locate(txHash: string, signal: AbortSignal): Promise<BlockPlace | undefined>;
  /**
   * The cost of a transaction in a block; undefined if the nodes do not report it, or it has failed.
   * @param txHash lower case, without 0x
   * @throws NodesUnavailable
   */
  cost(txHash: string, height: number, signal: AbortSignal): Promise<TransactionCost | undefined>;
  /**
   * True if the contract at an address accepts a signature of a hash as its own (EIP-1271); false if there is no contract. Absent
   * where no contract can. @throws NodesUnavailable
   */
  acceptsSignature?(
    contract: string,
    signed: { readonly hash: string; readonly signature: string },
    signal: AbortSignal,
  ): Promise<boolean>;
}

/** The condition of a network's nodes, as far as this process knows. Texts hold no URLs. */
export interface ConnectionStatus {
  /** In the order of the configuration. */
  readonly nodes: readonly NodeStatus[];
  /** The number of requests that the budget leaves now; undefined without one. */
  readonly requestsLeft: number | undefined;
  /** Of them, the number that leaves half of the budget to the scan; undefined without one. */
  readonly requestsSpare: number | undefined;
  /** The currencies of `unreadable`, and why. */
  readonly assetProblems: readonly AssetProblem[];
}

export interface NodeStatus {
  /** `node 1` for the first of the configuration. The URL is never shown. */
  readonly name: string;
  /** Why the node is not used now; undefined if it is healthy. */
  readonly problem: string | undefined;
  /** The kind of problem: anyone may see it. */
  readonly fault: NodeFault | 'failure' | undefined;
  /** True if it did the last piece of work. */
  readonly isInUse: boolean;
  /** HTTP requests. */
  readonly requests: number;
  /** JSON-RPC calls; a batch has several. Most providers charge for these. */
  readonly calls: number;
  /** Requests that failed, including those that the node refused as too many. */
  readonly failures: number;
  /** Requests that the node refused as too many. */
  readonly limited: number;
  /** The duration of all requests together, until the whole answer was there or they failed. */
  readonly durationMs: number;
}

/** An asset that is not read, and why. */
export interface AssetProblem {
  readonly currency: string;
  /** One sentence that says what to change. */
  readonly problem: string;
}

export interface ConnectedNetwork extends ConfiguredNetwork, Connection {
  /** The interval at which the nodes are asked for news. */
  readonly pollMs: number;
  /** A separate chain that reports the transfers to these addresses, whatever their owners. */
  chainFor(addresses: ReadonlySet<string>): Chain;
}

/** Connects the networks of the configuration. It asks the nodes nothing. @throws StartError if one cannot be used. Messages hold no URL */
export type ConnectNetworks = (
  networks: readonly ConfiguredNetwork[],
  deps: ConnectDeps,
) => readonly ConnectedNetwork[];
