/** What an operator needs to know of each network: how far its scan is, which node it is read from, and what is wrong. */
import { isReadUpToNow } from '../chains/availability.js';
import type { ConnectedNetwork, ConnectionStatus } from '../chains/connect.js';
import type { NetworkStatus } from './scanner.js';

export interface NetworkHealth extends NetworkStatus {
  /** Undefined for networks without nodes, such as the simulated ones. */
  readonly connection?: ConnectionStatus | undefined;
  /** Whether payers are sent to it: it is read up to now. */
  readonly isOffered: boolean;
}

/** @param scanned what the scanner says of each network */
export function networkHealth(
  scanned: readonly NetworkStatus[],
  connected: readonly Pick<ConnectedNetwork, 'network' | 'blockSeconds' | 'status'>[],
): NetworkHealth[] {
  return scanned.map((one) => {
    const real = connected.find(({ network }) => network.mode === one.mode && network.code === one.network);
    return { ...one, connection: real?.status(), isOffered: !real || isReadUpToNow(one, real.blockSeconds) };
  });
}

/** A sentence per problem of a network's scan, nodes and tokens. */
export function networkProblems({
  problem: scanProblem,
  disagreement,
  connection,
}: Pick<NetworkHealth, 'problem' | 'disagreement' | 'connection'>): string[] {
  return [
    ...(scanProblem === undefined ? [] : [scanProblem]),
    ...(disagreement === undefined ? [] : [`The nodes disagree: ${disagreement}`]),
    ...(connection?.nodes ?? []).flatMap(({ problem }) => problem ?? []),
    ...(connection?.assetProblems ?? []).map(({ problem }) => problem),
  ];
}
