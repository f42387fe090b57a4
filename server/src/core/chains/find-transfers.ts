/** Finds what one transaction sent to addresses of this server, on real and on simulated networks. */
import { NodesUnavailable } from './nodes-unavailable.js';
import { Problem } from '../shared/problem.js';
import type { ChainTransfer, NetworkRef } from './chain.js';
import type { ConnectedNetwork } from './connected.js';

/**
 * Undefined if the network has the transaction in no block; empty if it paid no address of this server.
 * Problem: `chain_unavailable` if no node answers, or the rest of the budget is for the scan.
 * @param txHash 64 lower-case hexadecimal digits
 */
export type FindTransfers = (
  ref: NetworkRef,
  txHash: string,
  signal: AbortSignal,
) => Promise<readonly ChainTransfer[] | 'failed' | undefined>;

type Connected = Pick<ConnectedNetwork, 'network' | 'locate' | 'chain' | 'status'>;

/** About as many as one look-up needs at most: 21 to locate a transaction on Bitcoin, and some for its block. */
const requestsOfOne = 25;

export function createFindTransfers(
  connected: readonly Connected[],
  simulated: FindTransfers,
): FindTransfers {
  const running = new Map<Connected, number>();

  /** Anyone with a public key can ask, and half of the budget must be left to the scan. */
  function hasRequests(network: Connected): boolean {
    const { requestsSpare = Infinity } = network.status();
    // Those that run have not sent all of theirs yet.
    return requestsSpare > requestsOfOne * (running.get(network) ?? 0);
  }

  const unavailable = ({ network }: Connected) =>
    new Problem(
      'chain_unavailable',
      `${network.name} cannot be asked right now, so nothing is known about this transfer. Try again shortly`,
      { retryAfterSeconds: 10 },
    );

  return async ({ mode, network }, txHash, signal) => {
    const real = connected.find((one) => one.network.mode === mode && one.network.code === network);
    if (!real) return simulated({ mode, network }, txHash, signal);
    if (!hasRequests(real)) throw unavailable(real);
    running.set(real, (running.get(real) ?? 0) + 1);
    try {
      const place = await real.locate(txHash, signal);
      if (!place) return undefined;
      if (place.isFailed) return 'failed';
      const block = await real.chain.block(place.height, signal);
      return block?.transfers.filter((one) => one.txHash.toLowerCase().replace(/^0x/, '') === txHash);
    } catch (error) {
      if (!(error instanceof NodesUnavailable)) throw error;
      throw unavailable(real);
    } finally {
      running.set(real, (running.get(real) ?? 1) - 1);
    }
  };
}
