/** What an operator needs to know of each network: how far its scan is, which node it is read from, and what is wrong. */
import type { ConnectedNetwork, ConnectionStatus } from './connect.js';
import type { NetworkStatus } from './scanner.js';

export interface NetworkHealth extends NetworkStatus {
  /** Undefined for networks without nodes, such as the simulated ones. */
  readonly connection?: ConnectionStatus | undefined;
}

/** @param scanned what the scanner says of each network */
export function networkHealth(
  scanned: readonly NetworkStatus[],
  connected: readonly Pick<ConnectedNetwork, 'network' | 'status'>[],
): NetworkHealth[] {
  return scanned.map((one) => ({
    ...one,
    connection: connected
      .find(({ network }) => network.mode === one.mode && network.code === one.network)
      ?.status(),
  }));
}

/** A sentence per problem of a network's scan, nodes and tokens. */
export function networkProblems({
  problem: scanProblem,
  connection,
}: Pick<NetworkHealth, 'problem' | 'connection'>): string[] {
  return [
    ...(scanProblem === undefined ? [] : [scanProblem]),
    ...(connection?.nodes ?? []).flatMap(({ problem }) => problem ?? []),
    ...(connection?.assetProblems ?? []).map(({ problem }) => problem),
  ];
}
