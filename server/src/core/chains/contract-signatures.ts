/** Asks contract wallets whether a signature is theirs (EIP-1271). */
import { NodesUnavailable } from '../rpc/node-error.js';
import { Problem } from '../shared/problem.js';
import type { NetworkRef } from './chain.js';
import type { ConnectedNetwork } from './connect.js';

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
  connected: readonly Pick<ConnectedNetwork, 'network' | 'evm'>[],
): AcceptsSignature {
  return async ({ mode, network: code }, contract, { hash, signature }, signal) => {
    const on = connected.find(({ network }) => network.mode === mode && network.code === code);
    if (!on?.evm) return false;
    try {
      return await on.evm.run((node) => node.acceptsSignature(contract, hash, signature), signal);
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
