/** The parts of a configured network that every adapter hands to its nodes. */
import type { ChainDeps, NodesConfig } from './nodes.js';
import type { ConfiguredNetwork, ConnectDeps } from '../../core/chains/connected.js';

export const nodesConfig = (configured: ConfiguredNetwork): NodesConfig => {
  const { network, nodes, headers, requestsPerMinute, isOnDemand, blockSeconds } = configured;
  const blockTimeMs = isOnDemand ? undefined : blockSeconds * 1000;
  const asked = { nodes, headers, requestsPerMinute, maxBatch: configured.batchSize };
  return { mode: network.mode, network: network.code, ...asked, blockTimeMs };
};

export function chainDeps({ network: { mode, code } }: ConfiguredNetwork, deps: ConnectDeps): ChainDeps {
  return {
    watched: (addresses) => deps.watched(mode, addresses),
    hasOpen: () => deps.isAnyoneExpected(mode),
    soughtCoins: async () => (await deps.soughtCoins?.(mode, code)) ?? new Set(),
    warn: (message) => deps.log.warn({ mode, network: code }, message),
    now: deps.now,
  };
}
