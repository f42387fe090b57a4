/** Finds the block in which a surplus came, as far as nodes keep old balances. */
import { readBooked, type Place } from './books.js';
import type { AskedBalance, BalanceSource } from '../chains/balance-source.js';
import type { Reader } from '../db/engine.js';
import type { NetworkRef } from '../chains/chain.js';

export interface Surplus {
  readonly asked: AskedBalance;
  readonly place: Place;
  /** In units of the chain. */
  readonly amount: bigint;
  /** What the address's wallet has moved by itself. */
  readonly spent: bigint;
  /** It was not there after this block, as far as is known, and was there after the other. */
  readonly above: number;
  readonly upTo: number;
}

/** @returns the same surplus, or the part of it that came last, in as few blocks as could be found */
export async function locate(
  reader: Reader,
  network: NetworkRef,
  source: BalanceSource,
  surplus: Surplus,
  signal: AbortSignal,
): Promise<Surplus> {
  const { asked, place, spent } = surplus;

  async function surplusAt(height: number): Promise<bigint | undefined> {
    const reading = await source.readOld([asked], height, undefined, signal);
    const [balance] = reading?.amounts ?? [];
    if (balance === undefined) return undefined;
    const { received, left } = (await readBooked(reader, network, [place.address], height)).at(place);
    return balance + left + spent - received;
  }

  let { above, upTo } = surplus;
  /** The surplus after `above`. */
  let before = 0n;
  // Backwards in growing steps, since it is new in most cases, and then by halves.
  for (let step = 1, isFound = false; upTo - above > 1;) {
    const height = isFound ? above + Math.floor((upTo - above) / 2) : Math.max(above + 1, upTo - step);
    const found = await surplusAt(height);
    if (found === undefined) break;
    if (found >= surplus.amount) upTo = height;
    else {
      above = height;
      before = found > 0n ? found : 0n;
      isFound = true;
    }
    step *= 2;
  }
  return { ...surplus, above, upTo, amount: surplus.amount - before };
}
