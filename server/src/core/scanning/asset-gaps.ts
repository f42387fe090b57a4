/**
 * The blocks that were read without an asset, because its contract did not answer as the configuration says. They are kept with
 * the cursor, and read again when the asset is back.
 */
import type { ChainBlock } from '../chains/chain.js';
import { tables, type ChainCursorTable } from '../db/schema.js';

const { gaps: column } = tables.chain_cursors.columns;

export type AssetGap = ReturnType<typeof readGaps>[number];

/** @param cursor undefined if nothing was scanned yet */
export const readGaps = (cursor: Pick<ChainCursorTable, 'gaps'> | undefined) =>
  cursor ? column.read(cursor.gaps) : [];

/** The gaps after more blocks. */
export function withBlocks(
  cursor: Pick<ChainCursorTable, 'gaps'>,
  blocks: readonly ChainBlock[],
  now: number,
): string {
  let gaps = readGaps(cursor);
  for (const { height, without = [] } of blocks) {
    gaps = gaps.map((gap) =>
      gap.to !== undefined || without.includes(gap.currency) ? gap : { ...gap, to: height - 1 },
    );
    for (const currency of without) {
      const isKnown = gaps.some((gap) => gap.currency === currency && gap.to === undefined);
      if (!isKnown) gaps = [...gaps, { currency, from: height, since: now }];
    }
  }
  return column.write(gaps);
}

/** The gaps after blocks up to a height were read again. Those blocks that lacked an asset again stay in its gap. */
export function withoutRead(cursor: Pick<ChainCursorTable, 'gaps'>, blocks: readonly ChainBlock[]): string {
  const gaps = readGaps(cursor).flatMap((gap): readonly AssetGap[] => {
    const read = blocks.filter(({ without = [] }) => !without.includes(gap.currency));
    const last = read.at(-1)?.height;
    if (gap.to === undefined || last === undefined || read[0] === undefined) return [gap];
    if (read[0].height > gap.from || last < gap.from) return [gap];
    return last >= gap.to ? [] : [{ ...gap, from: last + 1 }];
  });
  return column.write(gaps);
}
