/** The chain of Tron: java-tron's Ethereum-style JSON-RPC, with its HTTP API where that does not say enough. */
import type { NetworkFinding } from '../connect.js';
import { checkEvmNetwork } from '../evm/check.js';
import type { ChainDeps } from '../config/nodes.js';
import { createEvmChain, type EvmChain } from '../evm/evm-chain.js';
import type { EvmConfig } from '../evm/evm-nodes.js';
import { tronDialect } from './tron-dialect.js';

/**
 * Creates the chain of Tron. Addresses and contracts are T…, transaction and block hashes are without 0x, and TRX has 6
 * decimals. Failures are those of `createEvmChain`.
 * @param config its nodes are base URLs, such as https://api.trongrid.io: JSON-RPC is at `/jsonrpc` below, the HTTP API at
 *   `/wallet`. The chain id is the last 4 bytes of the genesis block's hash: 728126428 for the main network, 3448148188 for Nile
 */
export function createTronChain(config: EvmConfig, deps: ChainDeps): EvmChain {
  return createEvmChain(withJsonRpc(config), deps, tronDialect);
}

/** Yields what the nodes are and can do; see `checkEvmNetwork`. */
export function checkTronNetwork(config: EvmConfig, signal: AbortSignal): AsyncIterable<NetworkFinding> {
  return checkEvmNetwork(withJsonRpc(config), signal, tronDialect);
}

/** The same network with the URLs of its JSON-RPC as nodes. What is no URL is refused where nodes are connected to. */
function withJsonRpc(config: EvmConfig): EvmConfig {
  const jsonRpcOf = (node: string) => {
    if (!URL.canParse(node)) return node;
    const url = new URL(node);
    url.pathname = url.pathname.replace(/(\/jsonrpc)?\/?$/, '/jsonrpc');
    return url.href;
  };
  return { ...config, nodes: config.nodes.map(jsonRpcOf) };
}
