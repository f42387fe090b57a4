/**
 * The facts that an operator needs about each network: the height of its scan, the node that it is read from, and its
 * problems.
 */
import { isReadUpToNow } from '../chains/availability.js';
import type { ConnectedNetwork } from '../chains/connected.js';
import type { NetworkStatus } from './scan-statuses.js';

export type NetworkHealth = ReturnType<typeof networkHealth>[number];

/** The facts that anyone may read of it, and those that they follow from. */
export type ShownHealth = Pick<NetworkHealth, 'mode' | 'network' | 'lagMs' | 'isOffered'> &
  Partial<Pick<NetworkHealth, 'problem' | 'disagreement' | 'connection'>>;

/** @param scanned the scanner's report on each network */
export function networkHealth(
  scanned: readonly NetworkStatus[],
  connected: readonly Pick<ConnectedNetwork, 'network' | 'blockSeconds' | 'status'>[],
) {
  return scanned.map((one) => {
    const real = connected.find(({ network }) => network.mode === one.mode && network.code === one.network);
    return {
      ...one,
      /** Undefined for networks without nodes, such as the simulated ones. */
      connection: real?.status(),
      /** True if payers are sent to it: it is read up to now. */
      isOffered: !real || isReadUpToNow(one, real.blockSeconds),
    };
  });
}

/**
 * The part of a network's problems that anyone may read. The errors themselves quote nodes and providers: the log and
 * `chains status` have them.
 */
export function publicProblems({ problem, disagreement, connection }: ShownHealth): string[] {
  return [
    ...(problem === undefined ? [] : ['The scan fails: "chains status" says why']),
    ...(disagreement === undefined ? [] : ['The nodes disagree: "chains status" says on what']),
    ...(connection?.nodes ?? []).flatMap(({ name, fault }) => (fault ? `${name} fails (${fault})` : [])),
    ...(connection?.assetProblems ?? []).map(({ currency }) => `${currency} is off: the log says why`),
  ];
}

/**
 * The facts about a network that anyone may read. Nodes are named by their place in the configuration, never by their
 * URL.
 */
export function describeNetwork(one: ShownHealth) {
  const { mode, network, lagMs, connection, isOffered } = one;
  return {
    mode,
    network,
    isOffered,
    ...(lagMs !== undefined && { lagSeconds: Math.floor(lagMs / 1000) }),
    /** The one that answered last, if this process asks any: with several replicas, one reads the network. */
    ...(connection && { node: connection.nodes.find(({ isInUse }) => isInUse)?.name }),
    problems: publicProblems(one),
  };
}
