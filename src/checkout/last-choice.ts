/** Remembers the coin and network that this browser paid with last. */
import { loadItem, storeItem } from '../platform.js';
import type { Choice } from './state.js';

/** Storage key of the coin and network used last in this browser, for any shop on this origin. */
const choiceName = 'crypto-checkout:last';

export function readLastChoice(): Choice | undefined {
  const [currency, network] = loadItem(choiceName)?.split(' ') ?? [];
  return currency && network ? { currency, network } : undefined;
}

export function rememberChoice({ currency, network }: Choice): void {
  storeItem(choiceName, `${currency} ${network}`);
}
