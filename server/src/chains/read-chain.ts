/** Reads what has changed on a chain since a block: what was orphaned, what is new, what waits for a block. */
import type { Chain, ChainBlock, ChainHead, ChainTransfer } from './chain.js';

export interface Difference {
  /** Scanned blocks above this height are no longer on the best chain. */
  readonly orphanedAbove: number | undefined;
  /** Linked by their hashes, oldest first. */
  readonly blocks: readonly ChainBlock[];
  /** Undefined where the blocks do not reach the head, or where the chain moved while it was read. */
  readonly pending: readonly ChainTransfer[] | undefined;
  /** The last block that was read, or the one to start from. */
  readonly head: ChainHead;
}

export interface ReadFrom {
  /** The last block that was scanned. */
  readonly last: ChainHead;
  /** The blocks that were scanned and are kept, newest first; asked for when `last` is on the best chain no more. */
  scanned(): Promise<readonly ChainHead[]>;
  /** Called before each block. */
  beforeBlock(): Promise<void>;
}

/** A block to go on from; the hash is unknown when the fork lies below all blocks that are kept. */
interface Base {
  readonly height: number;
  readonly hash: string | undefined;
}

/** @param maximumBlocks how many to read at most, so that catching up goes in steps */
export async function readDifference(
  chain: Chain,
  from: ReadFrom,
  maximumBlocks: number,
  signal: AbortSignal,
): Promise<Difference> {
  const tip = await chain.head(signal);
  let base: Base = from.last;
  let blocks = await readBlocks(chain, base, tip, maximumBlocks, from, signal);
  if (blocks === 'forked') {
    base = await findFork(chain, await from.scanned(), tip, signal);
    blocks = await readBlocks(chain, base, tip, maximumBlocks, from, signal);
  }
  const head = blocks === 'forked' ? undefined : (blocks.at(-1) ?? withHash(base));
  if (blocks === 'forked' || !head) throw new Error(`${chain.network} reorganised while it was read`);

  let pending = head.hash === tip.hash ? await chain.pending(signal) : undefined;
  // What left the pending ones for a block in between would be in neither: only a chain that stood still tells.
  if (pending && (await chain.head(signal)).hash !== tip.hash) pending = undefined;
  const orphanedAbove = base === from.last ? undefined : base.height;
  return { orphanedAbove, blocks, pending, head: { height: head.height, hash: head.hash } };
}

/** The blocks that follow a base, as far as they link to each other; `forked` when none can follow it. */
async function readBlocks(
  chain: Chain,
  base: Base,
  tip: ChainHead,
  maximumBlocks: number,
  { beforeBlock }: ReadFrom,
  signal: AbortSignal,
): Promise<readonly ChainBlock[] | 'forked'> {
  if (tip.height <= base.height) return tip.height === base.height && tip.hash === base.hash ? [] : 'forked';
  const blocks: ChainBlock[] = [];
  let previous = base;
  const end = Math.min(tip.height, base.height + maximumBlocks);
  while (previous.height < end) {
    await beforeBlock();
    signal.throwIfAborted();
    const block = await chain.block(previous.height + 1, signal);
    if (!block) break;
    if (previous.hash !== undefined && block.parentHash !== previous.hash) {
      if (previous === base) return 'forked';
      break;
    }
    blocks.push(block);
    previous = block;
  }
  return blocks;
}

/** The newest scanned block that is still on the best chain, or what lies below all of them. */
async function findFork(
  chain: Chain,
  scanned: readonly ChainHead[],
  tip: ChainHead,
  signal: AbortSignal,
): Promise<Base> {
  for (const block of scanned) {
    signal.throwIfAborted();
    if (block.height > tip.height) continue;
    const current = block.height === tip.height ? tip : await chain.block(block.height, signal);
    if (current?.hash === block.hash) return block;
  }
  const lowest = scanned.at(-1)?.height ?? tip.height;
  return { height: Math.min(lowest, tip.height) - 1, hash: undefined };
}

function withHash({ height, hash }: Base): ChainHead | undefined {
  return hash === undefined ? undefined : { height, hash };
}
