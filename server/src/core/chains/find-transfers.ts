/** Finds what one transaction sent to addresses of this server, on real and on simulated networks. */
import { NodesUnavailable } from './nodes-unavailable.js';
import { Problem } from '../shared/problem.js';
import type { ChainTransfer, NetworkRef } from './chain.js';
import type { ConnectedNetwork } from './connected.js';

/**
 * Undefined if the network has the transaction in no block; empty if it paid no address of this server.
 * Problem: `chain_unavailable` if no node answers.
 * @param txHash 64 lower-case hexadecimal digits
 */
export type FindTransfers = (
  ref: NetworkRef,
  txHash: string,
  signal: AbortSignal,
) => Promise<readonly ChainTransfer[] | 'failed' | undefined>;

type Connected = Pick<ConnectedNetwork, 'network' | 'locate' | 'chain'>;

export function createFindTransfers(
  connected: readonly Connected[],
  simulated: FindTransfers,
): FindTransfers {
  return async ({ mode, network }, txHash, signal) => {
    const real = connected.find((one) => one.network.mode === mode && one.network.code === network);
    if (!real) return simulated({ mode, network }, txHash, signal);
    try {
      const place = await real.locate(txHash, signal);
      if (!place) return undefined;
      if (place.isFailed) return 'failed';
      const block = await real.chain.block(place.height, signal);
      return block?.transfers.filter((one) => one.txHash.toLowerCase().replace(/^0x/, '') === txHash);
    } catch (error) {
      if (!(error instanceof NodesUnavailable)) throw error;
      throw new Problem(
        'chain_unavailable',
        `${real.network.name} cannot be asked right now, so nothing is known about this transfer. Try again shortly`,
        { retryAfterSeconds: 10 },
      );
    }
  };
}
