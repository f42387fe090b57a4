/** The nodes of an EVM network, each checked for its chain id before it is used. */
import type { NodeClient } from '../../rpc/node-client.js';
import { NodeError } from '../../rpc/node-error.js';
import { createNodePool } from '../../rpc/node-pool.js';
import { createEvmClient, type EvmClient, type LogSpan } from './client.js';
import { evmDialect, type Dialect } from './dialect.js';
import type { ChainDeps, NodesConfig } from '../config/nodes.js';
import type { ChainAsset } from '../assets.js';

/** A node whose newest block is older than three times `blockTimeMs` and a minute is not believed. */
export interface EvmConfig extends NodesConfig {
  readonly chainId: number;
  readonly assets: readonly ChainAsset[];
  /** Of networks that answer like an EVM network, and write addresses and hashes in another way. */
  readonly dialect?: Dialect;
}

export type EvmNodes = ReturnType<typeof createEvmNodes>;

/** @param verifyMore more checks of a node before it is used @returns the pool, whose work is done with typed clients */
export function createEvmNodes(
  config: EvmConfig,
  { now, warn }: Pick<ChainDeps, 'now' | 'warn'> = {},
  verifyMore?: (evm: EvmClient) => Promise<void>,
) {
  const { network, chainId, dialect = evmDialect } = config;
  const spans = new Map<string, LogSpan>();
  const pool = createNodePool({
    ...config,
    ...{ nodes: config.nodes.map((node) => dialect.jsonRpcUrl(node)), now, warn },
    async verify(node, signal) {
      const evm = createEvmClient(node, signal);
      const actual = await evm.chainId();
      if (actual !== chainId) {
        throw new NodeError(
          'wrong-network',
          `${node.name} is on another network: ${network} has the chain id ${chainId}, the node has ${actual}. Correct its URL`,
        );
      }
      await verifyMore?.(evm);
    },
  });
  const clientOf = (node: NodeClient, signal: AbortSignal) => {
    const span = spans.get(node.name) ?? { blocks: Infinity };
    spans.set(node.name, span);
    return createEvmClient(node, signal, span);
  };
  return {
    ...pool,
    /** @param work gets another client of the same node too, for work beside its own: their calls never share a request */
    run: <T>(
      work: (evm: EvmClient, beside: EvmClient) => Promise<T>,
      signal: AbortSignal,
      except?: string,
    ): Promise<T> => pool.run((node) => work(clientOf(node, signal), clientOf(node, signal)), signal, except),
    each: <T>(work: (evm: EvmClient) => Promise<T>, signal: AbortSignal): Promise<T[]> =>
      pool.each((node) => work(clientOf(node, signal)), signal),
  };
}
