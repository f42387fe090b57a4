/** The nodes of an EVM network, each checked for its chain id before it is used. */
import { NodeError } from '../rpc/node-error.js';
import { createNodePool } from '../rpc/node-pool.js';
import { createEvmClient, createNodeMemory, type EvmClient, type NodeMemory } from './client.js';
import { evmDialect, type Dialect } from './dialect.js';
import type { ChainDeps, NodesConfig } from '../nodes.js';
import type { ChainAsset } from '../../../core/chains/assets.js';

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
  const memories = new Map<string, NodeMemory>();
  return createNodePool({
    ...config,
    nodes: config.nodes.map((node) => dialect.jsonRpcUrl(node)),
    now,
    warn,
    open(node, signal) {
      const kept = memories.get(node.name) ?? createNodeMemory(now);
      memories.set(node.name, kept);
      const client = () => createEvmClient(node, signal, kept);
      /** `beside` opens another client of the same node: calls of the two never share a request. */
      return { ...client(), beside: client };
    },
    async verify(evm) {
      const actual = await evm.chainId();
      if (actual !== chainId) {
        throw new NodeError(
          'wrong-network',
          `${evm.name} is on another network: ${network} has the chain id ${chainId}, the node has ${actual}. Correct its URL`,
        );
      }
      await verifyMore?.(evm);
    },
  });
}
