/** What an operator needs to know of each network: how far its scan is, which node it is read from, and what is wrong. */
import { isReadUpToNow } from '../chains/availability.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import type { NetworkStatus } from './scanner.js';

export type NetworkHealth = ReturnType<typeof networkHealth>[number];

/** What anybody may read of it, and what that follows from. */
export type ShownHealth = Pick<NetworkHealth, 'mode' | 'network' | 'lagMs' | 'isOffered'> &
  Partial<Pick<NetworkHealth, 'problem' | 'disagreement' | 'connection'>>;

/** @param scanned what the scanner says of each network */
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
      /** Whether payers are sent to it: it is read up to now. */
      isOffered: !real || isReadUpToNow(one, real.blockSeconds),
    };
  });
}

/**
 * What anybody may read of a network's problems. The errors themselves quote nodes and providers: the log and
 * `chains status` have them.
 */
export function publicProblems({ problem, disagreement, connection }: ShownHealth): string[] {
  return [
    ...(problem === undefined ? [] : ['The scan fails: "chains status" says why']),
    ...(disagreement === undefined ? [] : ['The nodes disagree: "chains status" says on what']),
    ...(connection?.nodes ?? []).flatMap(({ name, fault }) => (fault ? `${name} fails (${fault})` : [])),
    ...(connection?.assetProblems ?? []).map(
      ({ currency }) => `${currency} is off: "chains status" says why`,
    ),
  ];
}

/** What anybody may read of a network. Nodes are named by their place in the configuration, never by their URL. */
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
