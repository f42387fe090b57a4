/** Decides if payments can be received: payers are not sent to a network where the server would not see their money. */
import type { NetworkRef } from './chain.js';
import type { ConnectedNetwork } from './connected.js';
import type { Network } from './networks.js';

interface ScannedNetworkStatus {
  /** The time that the scan is behind; undefined before the first scan. */
  readonly lagMs: number | undefined;
  readonly isWrongChain: boolean;
}

/** True if a currency on a network is read up to now, give or take a few blocks. */
export type IsReadable = (network: Pick<Network, 'mode' | 'code'>, currency: string) => boolean;

/** Besides three blocks, which a healthy chain can take. */
const graceMs = 60_000;
/** The longest time that a network's reading may be behind while it is still offered. */
export const lagLimitMs = (blockSeconds: number): number => 3000 * blockSeconds + graceMs;

/** True if a network is read up to now, from the right chain. */
export function isReadUpToNow({ lagMs, isWrongChain }: ScannedNetworkStatus, blockSeconds: number): boolean {
  return !isWrongChain && lagMs !== undefined && lagMs <= lagLimitMs(blockSeconds);
}

/**
 * Asked about every option of every payment in a list.
 * @param statusOf the state of a network's scan; undefined if it is not scanned
 * @param networks networks that are not among them, such as the simulated ones, are always read
 */
export function createAvailability(
  statusOf: (network: NetworkRef) => ScannedNetworkStatus | undefined,
  networks: readonly Pick<ConnectedNetwork, 'network' | 'blockSeconds' | 'unreadable'>[],
): IsReadable {
  return ({ mode, code }, currency) => {
    const real = networks.find(({ network }) => network.mode === mode && network.code === code);
    if (!real) return true;
    const scanned = statusOf({ mode, network: code });
    return (
      scanned !== undefined && isReadUpToNow(scanned, real.blockSeconds) && !real.unreadable().has(currency)
    );
  };
}
