/** Whether a payment can be received: payers are not sent to a network where the server would not see their money. */
import type { NetworkRef } from './chain.js';
import type { ConnectedNetwork } from './connect.js';
import type { Network } from './networks.js';

export interface ScannedNetworkStatus extends NetworkRef {
  /** How far the scan is behind; undefined before the first scan. */
  readonly lagMs: number | undefined;
  readonly isWrongChain: boolean;
}

/** Whether a currency on a network is read up to now, give or take a few blocks. */
export type IsReadable = (network: Pick<Network, 'mode' | 'code'>, currency: string) => boolean;

/** Besides three blocks, which a healthy chain can take. */
const graceMs = 60_000;
/** How far behind a network may be read and still be offered. */
export const lagLimitMs = (blockSeconds: number): number => 3000 * blockSeconds + graceMs;

/** Whether a network is read up to now, from the right chain. */
export function isReadUpToNow(
  { lagMs, isWrongChain }: Pick<ScannedNetworkStatus, 'lagMs' | 'isWrongChain'>,
  blockSeconds: number,
): boolean {
  return !isWrongChain && lagMs !== undefined && lagMs <= lagLimitMs(blockSeconds);
}

/** Asking about every option of every payment in a list must cost nothing. */
const rememberedMs = 250;

/**
 * @param networks networks that are not among them, such as the simulated ones, are always read
 * @param realNow milliseconds of the clock that the lags are measured with. It may be set
 */
export function createAvailability(
  status: () => readonly ScannedNetworkStatus[],
  networks: readonly Pick<ConnectedNetwork, 'network' | 'blockSeconds' | 'unreadable'>[],
  realNow: () => number,
): IsReadable {
  const byKey = new Map(networks.map((one) => [keyOf(one.network.mode, one.network.code), one]));
  let scanned = new Map<string, ScannedNetworkStatus>();
  let checked = { monotonic: Number.NEGATIVE_INFINITY, real: 0 };

  return ({ mode, code }, currency) => {
    const key = keyOf(mode, code);
    const real = byKey.get(key);
    if (!real) return true;
    const now = { monotonic: performance.now(), real: realNow() };
    const isSet = Math.abs(now.real - checked.real) > rememberedMs;
    if (isSet || now.monotonic - checked.monotonic > rememberedMs) {
      scanned = new Map(status().map((one) => [keyOf(one.mode, one.network), one]));
      checked = now;
    }
    const found = scanned.get(key);
    return found !== undefined && isReadUpToNow(found, real.blockSeconds) && !real.unreadable().has(currency);
  };
}

function keyOf(mode: Network['mode'], code: string): string {
  return `${mode}/${code}`;
}
