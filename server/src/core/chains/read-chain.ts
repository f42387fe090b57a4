/** Reads what changed on a chain since a block: orphaned blocks, new blocks, and pending transfers. */
import type { Chain, ChainBlock, ChainHead, ChainTransfer, NetworkRef } from './chain.js';
import { NodesUnavailable } from './nodes-unavailable.js';

export type Difference = Awaited<ReturnType<typeof readDifference>>;

export interface ReadFrom {
  /** The last block that was scanned. */
  readonly last: ChainHead;
  /**
   * The scanned blocks that are stored, newest first, and whether older ones were deleted. Called only if `last` is no longer
   * on the best chain.
   */
  scanned(): Promise<ScannedBlocks>;
  /** Called before each block. */
  beforeBlock(): Promise<void>;
}

export interface ScannedBlocks {
  readonly blocks: readonly ChainHead[];
  readonly isComplete: boolean;
}

/** The block to continue from. Its hash is unknown if the fork is below all stored blocks. */
interface Base {
  readonly height: number;
  readonly hash: string | undefined;
}

/** A node that knows fewer blocks than were scanned already, as one behind a load balancer can. Nothing is reverted. */
export class ChainBehind extends Error {
  override readonly name = 'ChainBehind';

  /** The remedy if it stays behind, as one sentence or more without the last full stop. */
  readonly remedy: string;

  constructor(chain: NetworkRef, tip: ChainHead, last: ChainHead, options?: ErrorOptions) {
    super(
      `The node of ${chain.network} is at block ${tip.height}, behind block ${last.height} that was read before. Waiting until it has caught up`,
      options,
    );
    this.remedy = `If the node is still catching up, wait. If its chain was started again from the beginning, as a development chain can be, run "${acceptReorgCommand(chain, '1')}": it reverts what was received on the old chain, and the server continues with the new one`;
  }
}

/**
 * A reorganisation that reaches below the blocks that are stored. Money that was received in the older blocks cannot
 * be told apart from money that was not, so a person has to decide.
 */
class ReorgTooDeep extends Error {
  override readonly name = 'ReorgTooDeep';

  constructor(chain: Chain, lowest: number) {
    super(
      `${chain.network} was reorganised below block ${lowest}, the oldest one that is kept. Nothing more is read from it. If its node is on the right chain, choose a block before the fork and run "${acceptReorgCommand(chain, 'HEIGHT')}"`,
    );
  }
}

function acceptReorgCommand({ network, mode }: NetworkRef, from: string): string {
  return `chains rescan --network ${network} --from ${from} --accept-reorg --mode ${mode}`;
}

/** @param maxBlocks the most blocks to read, so that catching up happens in steps */
export async function readDifference(chain: Chain, from: ReadFrom, maxBlocks: number, signal: AbortSignal) {
  const tip = await chain.head(signal);
  let base: Base = from.last;
  let blocks = await readBlocks(chain, base, tip, maxBlocks, from, signal);
  if (blocks === 'forked') {
    const scanned = await from.scanned();
    // Below all blocks that are stored, as soon after the first start, nothing shows that any was replaced.
    if (tip.height < (scanned.blocks.at(-1)?.height ?? 0)) throw new ChainBehind(chain, tip, from.last);
    base = await findFork(chain, scanned, tip, signal);
    // The chain ends at a block that was scanned: nothing was replaced, the node only has not read the rest yet.
    if (base.height === tip.height && base.hash === tip.hash) throw new ChainBehind(chain, tip, from.last);
    blocks = await readBlocks(chain, base, tip, maxBlocks, from, signal);
  }
  const last = blocks === 'forked' ? undefined : (blocks.at(-1) ?? base);
  if (blocks === 'forked' || last?.hash === undefined)
    throw new Error(`${chain.network} reorganised while it was read`);

  const readPending = () => pendingAt(chain, tip, signal);
  const pending =
    last.hash === tip.hash
      ? await (blocks.length > 0 ? unlessUnavailable(readPending()) : readPending())
      : undefined;
  return {
    /** Scanned blocks above this height are no longer on the best chain; undefined if all still are. */
    orphanedAbove: base === from.last ? undefined : base.height,
    /** Linked by their hashes, oldest first. */
    blocks,
    /** Undefined if the blocks do not reach the head, or if the chain moved during the read. */
    pending,
    /** The last block that was read, or the base if there was none; and the final block, by the node. */
    head: { height: last.height, hash: last.hash, finalized: tip.finalized },
    /** The height of the chain's newest block. */
    tipHeight: tip.height,
  };
}

async function pendingAt(
  chain: Chain,
  tip: ChainHead,
  signal: AbortSignal,
): Promise<readonly ChainTransfer[] | undefined> {
  const pending = await chain.pending(signal);
  // A transfer mined between the two reads would be in neither. So `pending` is only valid if the head has not moved.
  return (await chain.head(signal)).hash === tip.hash ? pending : undefined;
}

/**
 * For reads that follow the reading of blocks: the blocks are not lost because no node can answer, or they do not agree
 * yet.
 */
async function unlessUnavailable<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NodesUnavailable) return undefined;
    throw error;
  }
}

/** Reads the blocks after a base, as long as each links to the previous one; `forked` if none can follow the base. */
async function readBlocks(
  chain: Chain,
  base: Base,
  tip: ChainHead,
  maxBlocks: number,
  { beforeBlock }: ReadFrom,
  signal: AbortSignal,
): Promise<readonly ChainBlock[] | 'forked'> {
  if (tip.height <= base.height) return tip.height === base.height && tip.hash === base.hash ? [] : 'forked';
  const blocks: ChainBlock[] = [];
  let previous = base;
  const end = Math.min(tip.height, base.height + maxBlocks);
  while (previous.height < end) {
    await beforeBlock();
    signal.throwIfAborted();
    const reading = readNext(chain, previous.height + 1, end, signal);
    const next = await (previous === base ? reading : unlessUnavailable(reading));
    if (!next || next.length === 0) break;
    for (const block of next) {
      if (previous.hash !== undefined && block.parentHash !== previous.hash) {
        return previous === base ? 'forked' : blocks;
      }
      blocks.push(block);
      previous = block;
    }
  }
  return blocks;
}

/**
 * Reads the blocks of a range from its first one on, as many as the node has. Servers behind a load balancer disagree about the
 * newest blocks, and that must not delay the older ones.
 */
async function readNext(
  chain: Chain,
  height: number,
  end: number,
  signal: AbortSignal,
): Promise<readonly ChainBlock[]> {
  for (let last = end; ; last = Math.floor((height + last) / 2)) {
    try {
      if (chain.blocks && last > height) return await chain.blocks(height, last, signal);
      const block = await chain.block(height, signal);
      return block ? [block] : [];
    } catch (error) {
      const isEarly =
        error instanceof NodesUnavailable && (error.isAny('behind') || error.isAny('inconsistent'));
      if (!isEarly || last === height) throw error;
    }
  }
}

/**
 * The newest scanned block that is still on the best chain, or the height below all that were ever scanned.
 * @throws ReorgTooDeep
 */
async function findFork(
  chain: Chain,
  { blocks, isComplete }: ScannedBlocks,
  tip: ChainHead,
  signal: AbortSignal,
): Promise<Base> {
  for (const block of blocks) {
    signal.throwIfAborted();
    if (block.height > tip.height) continue;
    const current = block.height === tip.height ? tip : await chain.block(block.height, signal);
    if (current?.hash === block.hash) return block;
  }
  const lowest = blocks.at(-1)?.height ?? tip.height;
  if (!isComplete) throw new ReorgTooDeep(chain, lowest);
  return { height: Math.min(lowest, tip.height) - 1, hash: undefined };
}
