/** Connects the configured networks: one adapter for each kind of chain. */
import type { Chain } from '../../core/chains/chain.js';
import type {
  ConfiguredNetwork,
  ConnectDeps,
  ConnectedNetwork,
  Connection,
  NetworkFinding,
} from '../../core/chains/connected.js';
import type { Family } from '../../core/chains/networks.js';
import { isEvm } from '../../core/families/kinds.js';
import type { UtxoNode } from './bitcoin/utxo-node.js';
import type { BalanceSource } from './evm/balances.js';
import type { EvmNodes } from './evm/evm-nodes.js';
import type { NodeSettings } from './networks-file.js';

/** The questions of modules to a network's nodes. */
interface OfModules {
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

declare module '../../core/chains/connected.js' {
  interface ConfiguredNetwork extends NodeSettings {}
  interface Connection extends OfModules {}
}

/** Connects to one kind of chain. It asks the nodes nothing before it is used. */
export type Adapter = (configured: ConfiguredNetwork, deps: ConnectDeps) => Connection;

/** By family. A network of a family without one cannot be configured. */
export type Adapters = Readonly<Partial<Record<Family, Adapter>>>;

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
        const formOf = (address: string) => (isEvm(family) ? address.toLowerCase() : address);
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
  networks: readonly { readonly chain: Chain }[],
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
