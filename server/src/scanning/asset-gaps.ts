/**
 * The blocks that were read without an asset, because its contract did not answer as the configuration says. They are kept with
 * the cursor, and read again when the asset is back.
 */
import type { ChainBlock } from '../chains/chain.js';

export interface AssetGap {
  readonly currency: string;
  /** The first block that was read without it. */
  readonly from: number;
  /** The last one; absent while it is off. */
  readonly to?: number;
  /** Since when (real time). */
  readonly since: number;
}

export const readGaps = (gaps: string): readonly AssetGap[] => JSON.parse(gaps) as AssetGap[];

/** The gaps after more blocks. @param given as they are stored */
export function withBlocks(given: string, blocks: readonly ChainBlock[], now: number): string {
  let gaps = readGaps(given);
  for (const { height, without = [] } of blocks) {
    gaps = gaps.map((gap) =>
      gap.to !== undefined || without.includes(gap.currency) ? gap : { ...gap, to: height - 1 },
    );
    for (const currency of without) {
      const isKnown = gaps.some((gap) => gap.currency === currency && gap.to === undefined);
      if (!isKnown) gaps = [...gaps, { currency, from: height, since: now }];
    }
  }
  return JSON.stringify(gaps);
}

/** The gaps after blocks up to a height were read again. Those blocks that lacked an asset again stay in its gap. */
export function withoutRead(given: string, blocks: readonly ChainBlock[]): string {
  const gaps = readGaps(given).flatMap((gap): readonly AssetGap[] => {
    const read = blocks.filter(({ without = [] }) => !without.includes(gap.currency));
    const last = read.at(-1)?.height;
    if (gap.to === undefined || last === undefined || read[0] === undefined) return [gap];
    if (read[0].height > gap.from || last < gap.from) return [gap];
    return last >= gap.to ? [] : [{ ...gap, from: last + 1 }];
  });
  return JSON.stringify(gaps);
}
