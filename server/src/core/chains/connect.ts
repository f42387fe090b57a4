/** Connects the configured networks: one adapter for each kind of chain. */
import type { Logger } from 'pino';
import type { Mode } from '../shared/scope.js';
import type { UtxoNode } from './bitcoin/utxo-node.js';
import type { BlockPlace, Chain, TransactionCost } from './chain.js';
import type { ConfiguredNetwork } from './config/networks-file.js';
import type { AssetProblem } from './evm/assets.js';
import type { BalanceSource } from './evm/balances.js';
import type { EvmNodes } from './evm/evm-nodes.js';
import type { Family } from './networks.js';
import type { NodeStatus } from '../rpc/node-pool.js';

/** The parts of the server that adapters use. */
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

export interface Connection {
  readonly chain: Chain;
  /** Currencies that must not be offered, because their contract is not what the configuration says. */
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
  /** Checks the nodes one by one. Yields each finding when it is known. */
  check(signal: AbortSignal): AsyncIterable<NetworkFinding>;
  /** The nodes of an EVM network, for work outside of the scan: forwarders, sweeps and gas. */
  readonly evm?: EvmNodes;
  /**
   * The balances of addresses, for reconciliation. Networks of Bitcoin's kind are read by their outputs, which leave
   * nothing out.
   */
  readonly balances?: BalanceSource;
  /** For payouts by PSBT, on networks of Bitcoin's kind. It shares nodes and budget with the scan. */
  readonly utxoNode?: UtxoNode;
}

/** The condition of a network's nodes, as far as this process knows. Texts hold no URLs. */
export interface ConnectionStatus {
  /** In the order of the configuration. */
  readonly nodes: readonly NodeStatus[];
  /** The number of requests that the budget leaves now; undefined without one. */
  readonly requestsLeft: number | undefined;
  /** The currencies of `unreadable`, and why. */
  readonly assetProblems: readonly AssetProblem[];
}

/** Connects to one kind of chain. It asks the nodes nothing before it is used. */
export type Adapter = (configured: ConfiguredNetwork, deps: ConnectDeps) => Connection;

/** By family. Bitcoin and Litecoin share one. A network of a family without one cannot be configured. */
export type Adapters = Readonly<Partial<Record<Family, Adapter>>>;

export interface ConnectedNetwork extends ConfiguredNetwork, Connection {
  /** The interval at which the nodes are asked for news. */
  readonly pollMs: number;
  /** A separate chain that reports the transfers to these addresses, whatever their owners. */
  chainFor(addresses: ReadonlySet<string>): Chain;
}

/** @throws if there is no adapter for a network, or a node's URL cannot be used. Messages hold no URL */
export function connectNetworks(
  networks: readonly ConfiguredNetwork[],
  adapters: Adapters,
  deps: ConnectDeps,
): ConnectedNetwork[] {
  return networks.map((configured) => {
    const { code, family } = configured.network;
    const adapter = adapters[family];
    if (!adapter) throw new Error(`networks.${code}: ${family} networks cannot be connected to yet`);
    return {
      ...configured,
      ...adapter(configured, deps),
      pollMs: pollMsOf(configured.blockSeconds),
      chainFor(addresses) {
        const formOf = (address: string) => (family === 'evm' ? address.toLowerCase() : address);
        const forms = new Set([...addresses].map(formOf));
        const watched: ConnectDeps['watched'] = (_mode, given) =>
          Promise.resolve(new Set(given.filter((address) => forms.has(formOf(address)))));
        return adapter(configured, { ...deps, watched }).chain;
      },
    };
  });
}

/**
 * Asks each network once, so that every process knows which currencies are unreadable: only one of them scans. Networks that
 * do not answer are asked again at the next call.
 */
export function createFirstContact(
  networks: readonly Pick<Connection, 'chain'>[],
): (signal: AbortSignal) => Promise<void> {
  const waiting = new Set(networks.map(({ chain }) => chain));
  return async (signal) => {
    await Promise.all(
      [...waiting].map((chain) =>
        chain.head(signal).then(
          () => waiting.delete(chain),
          // The scanner logs why.
          () => false,
        ),
      ),
    );
  };
}

/** A third of the time between blocks, but payers wait for no more than a few seconds to see their payment seen. */
function pollMsOf(blockSeconds: number): number {
  return Math.round(Math.min(5000, Math.max(500, (blockSeconds * 1000) / 3)));
}
