/** Remembers the coin and network that this browser paid with last. */
import type { Choice } from './state.js';

/** Where the coin and network stand that were used last in this browser, with any shop on this origin. */
const choiceName = 'crypto-checkout:last';

export function readLastChoice(): Choice | undefined {
  try {
    const [currency, network] = localStorage.getItem(choiceName)?.split(' ') ?? [];
    return currency && network ? { currency, network } : undefined;
  } catch {
    return undefined;
  }
}

export function rememberChoice({ currency, network }: Choice): void {
  try {
    localStorage.setItem(choiceName, `${currency} ${network}`);
  } catch {
    // Storage is full or forbidden.
  }
}
