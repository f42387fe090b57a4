/** The figures of networks and their nodes. Nodes are named by their place in the configuration: their URLs can hold credentials. */
import type { ConnectionStatus } from '../chains/connected.js';
import type { Figure, Sample } from '../shared/feature.js';
import type { NetworkHealth } from './network-health.js';

type Node = ConnectionStatus['nodes'][number];

export const createNetworkFigures = (networks: () => readonly NetworkHealth[]) => (): readonly Figure[] => {
  const ofNetworks = (
    name: string,
    help: string,
    valueOf: (one: NetworkHealth) => number | undefined,
  ): Figure => ({
    name,
    help,
    labels: ['mode', 'network'],
    read: () => networks().map((one): Sample => [{ mode: one.mode, network: one.network }, valueOf(one)]),
  });
  const ofNodes = (name: string, help: string, valueOf: (node: Node) => number): Figure => ({
    name,
    help,
    labels: ['mode', 'network', 'node'],
    read: () =>
      networks().flatMap(({ mode, network, connection }) =>
        (connection?.nodes ?? []).map((node): Sample => [{ mode, network, node: node.name }, valueOf(node)]),
      ),
  });
  const countOfNodes = (...of: Parameters<typeof ofNodes>): Figure => ({
    ...ofNodes(...of),
    isCounter: true,
  });
  return [
    ofNetworks('checkout_chain_height', 'The latest scanned block of a network', ({ height }) => height),
    ofNetworks(
      'checkout_chain_head_height',
      'The newest block of a network at the last scan',
      ({ headHeight }) => headHeight,
    ),
    ofNetworks(
      'checkout_chain_lag_seconds',
      'The delay of the scan of a network, in seconds',
      ({ lagMs }) => lagMs && lagMs / 1000,
    ),
    ofNetworks(
      'checkout_chain_failing',
      "1 if this process's last scan of a network failed, otherwise 0",
      ({ isFailing }) => Number(isFailing),
    ),
    ofNetworks(
      'checkout_network_offered',
      '1 if payers are sent to a network, 0 while it is not read up to now',
      ({ isOffered }) => Number(isOffered),
    ),
    ofNetworks(
      'checkout_chain_disagreement',
      '1 if the nodes of a network contradict each other about receipts, which are not credited meanwhile, otherwise 0',
      ({ disagreement }) => Number(disagreement !== undefined),
    ),
    ofNetworks(
      'checkout_network_requests_left',
      'The requests that the budget of a network (requestsPerMinute) leaves now',
      ({ connection }) => connection?.requestsLeft,
    ),
    ofNetworks(
      'checkout_asset_gap_blocks',
      'Blocks that were read without a token, and will be read again when it is back',
      ({ height = 0, gaps }) => gaps.reduce((sum, { from, to = height }) => sum + to - from + 1, 0),
    ),
    {
      name: 'checkout_asset_off',
      help: '1 for a token that is not offered, because its contract is not what the configuration says',
      labels: ['mode', 'network', 'currency'],
      read: () =>
        networks().flatMap(({ mode, network, connection }) =>
          (connection?.assetProblems ?? []).map(({ currency }): Sample => [{ mode, network, currency }, 1]),
        ),
    },
    countOfNodes('checkout_node_requests_total', 'HTTP requests to a node', ({ requests }) => requests),
    countOfNodes(
      'checkout_node_calls_total',
      'JSON-RPC calls to a node, each call of a batch counted; most providers charge for these',
      ({ calls }) => calls,
    ),
    countOfNodes(
      'checkout_node_failures_total',
      'Requests to a node that failed, those included that it refused as too many',
      ({ failures }) => failures,
    ),
    countOfNodes(
      'checkout_node_limited_total',
      'Requests that a node refused as too many',
      ({ limited }) => limited,
    ),
    countOfNodes(
      'checkout_node_request_seconds_total',
      'The total time of the requests to a node; divided by the requests, its latency',
      ({ durationMs }) => durationMs / 1000,
    ),
    ofNodes('checkout_node_in_use', '1 if a node did the last work on its network', ({ isInUse }) =>
      Number(isInUse),
    ),
    ofNodes('checkout_node_failing', '1 if a node failed when it was used last', ({ problem }) =>
      Number(problem !== undefined),
    ),
  ];
};
