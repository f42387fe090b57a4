/** The chain of Tron: java-tron's Ethereum-style JSON-RPC, with its HTTP API where that does not say enough. */
import type { NetworkFinding } from '../connect.js';
import { checkEvmLikeNetwork } from '../evm/check.js';
import type { EvmConfig, EvmDeps } from '../evm/config.js';
import type { Dialect } from '../evm/dialect.js';
import { createEvmLikeChain, type EvmChain } from '../evm/evm-chain.js';
import { createTronDialect } from './tron-dialect.js';

/**
 * Nodes are base URLs, such as https://api.trongrid.io: JSON-RPC is at `/jsonrpc` below, the HTTP API at `/wallet`. Contracts
 * are written T…, and TRX has 6 decimals. The chain id is the last 4 bytes of the genesis block's hash: 728126428 for the
 * main network, 3448148188 for Nile.
 */
export interface TronConfig extends EvmConfig {
  /** Base URLs of the HTTP API, if it is on another port or host than JSON-RPC, in the order of `nodes`. */
  readonly httpNodes?: readonly string[] | undefined;
}

/**
 * Creates the chain of Tron. Addresses are T…, transaction and block hashes are without 0x. Failures are those of
 * `createEvmChain`.
 */
export function createTronChain(config: TronConfig, deps: EvmDeps): EvmChain {
  return createEvmLikeChain(withJsonRpc(config), deps, dialectOf(config));
}

/** Yields what the nodes are and can do; see `checkEvmNetwork`. */
export function checkTronNetwork(config: TronConfig, signal: AbortSignal): AsyncIterable<NetworkFinding> {
  return checkEvmLikeNetwork(withJsonRpc(config), dialectOf(config), signal);
}

function dialectOf({ nodes, httpNodes = nodes }: TronConfig): Dialect {
  return createTronDialect((name, path) => {
    const base = httpNodes[Number(name.replace('node ', '')) - 1] ?? '';
    return extend(base.replace(/\/jsonrpc\/?$/, ''), path);
  });
}

/** The same network with the URLs of its JSON-RPC as nodes. */
export function withJsonRpc(config: TronConfig): EvmConfig {
  return {
    ...config,
    nodes: config.nodes.map((node) => (/\/jsonrpc\/?$/.test(node) ? node : extend(node, '/jsonrpc'))),
  };
}

function extend(base: string, path: string): string {
  if (!URL.canParse(base)) return base;
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  return url.href;
}
