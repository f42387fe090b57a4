/**
 * The blocks that were read without an asset, because its contract did not answer as the configuration says. They are kept with
 * the cursor, and read again when the asset is back.
 */
import type { ChainBlock } from '../chains/chain.js';
import type { ChainCursorRow } from '../db/schema.js';

type Gaps = ChainCursorRow['gaps'];

/** The gaps after more blocks. */
export function withBlocks(
  { gaps: before }: Pick<ChainCursorRow, 'gaps'>,
  blocks: readonly ChainBlock[],
  now: number,
): Gaps {
  let gaps = before;
  for (const { height, without = [] } of blocks) {
    gaps = gaps.map((gap) =>
      gap.to !== undefined || without.includes(gap.currency) ? gap : { ...gap, to: height - 1 },
    );
    for (const currency of without) {
      const isKnown = gaps.some((gap) => gap.currency === currency && gap.to === undefined);
      if (!isKnown) gaps = [...gaps, { currency, from: height, since: now }];
    }
  }
  return gaps;
}

/** The gaps after blocks up to a height were read again. Blocks that were read without the asset again stay in its gap. */
export function withoutRead({ gaps }: Pick<ChainCursorRow, 'gaps'>, blocks: readonly ChainBlock[]): Gaps {
  return gaps.flatMap((gap): Gaps => {
    const read = blocks.filter(({ without = [] }) => !without.includes(gap.currency));
    const last = read.at(-1)?.height;
    if (gap.to === undefined || last === undefined || read[0] === undefined) return [gap];
    if (read[0].height > gap.from || last < gap.from) return [gap];
    return last >= gap.to ? [] : [{ ...gap, from: last + 1 }];
  });
}
