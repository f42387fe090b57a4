/** Asks contract wallets whether a signature is theirs (EIP-1271). */
import { NodesUnavailable } from '../../core/chains/nodes-unavailable.js';
import { Problem } from '../../core/shared/problem.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import type { ConnectedNetwork } from '../../core/chains/connected.js';

/**
 * True if the contract at an address accepts a signature of a hash as its own; false if there is no contract.
 * Problem: `service_unavailable` if no node answers.
 */
export type AcceptsSignature = (
  ref: NetworkRef,
  contract: string,
  signed: { readonly hash: string; readonly signature: string },
  signal: AbortSignal,
) => Promise<boolean>;

/** @param connected the real networks: the simulated ones run no contracts */
export function createAcceptsSignature(
  connected: readonly Pick<ConnectedNetwork, 'network' | 'acceptsSignature'>[],
): AcceptsSignature {
  return async ({ mode, network: code }, contract, signed, signal) => {
    const on = connected.find(({ network }) => network.mode === mode && network.code === code);
    if (!on?.acceptsSignature) return false;
    try {
      return await on.acceptsSignature(contract, signed, signal);
    } catch (error) {
      if (!(error instanceof NodesUnavailable)) throw error;
      throw new Problem(
        'service_unavailable',
        `${on.network.name} cannot be asked right now, so the signature cannot be checked. Try again shortly, or give the address without it`,
        { retryAfterSeconds: 10 },
      );
    }
  };
}
