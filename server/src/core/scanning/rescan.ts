/**
 * Reads blocks again that were scanned before, for transfers that were missed: of an address or an asset that was not
 * known then.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../db/database.js';
import type { ChainCursorRow } from '../db/schema.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { Chain, ChainBlock, NetworkRef } from '../chains/chain.js';
import { withoutRead } from './asset-gaps.js';
import { lockCursor, readCursor, readScannedBlocks, updateCursor, writeScannedBlocks } from './cursors.js';
import type { ScanSink } from './scan.js';

export interface RescanOptions {
  readonly database: Database;
  readonly chain: Chain;
  readonly sink: ScanSink;
  /** The first height to read. */
  readonly from: number;
  /** The last one; that of the cursor if it is lower, or if this is left out. */
  readonly to?: number;
  readonly signal: AbortSignal;
  /** Called after each step, with the height that was read last and the one to read up to. */
  readonly onProgress?: (height: number, end: number) => void;
}

const blocksAtOnce = 50;

/**
 * The cursor stays where it is, so a running server keeps scanning, and depths are counted from where it is. Receipts
 * that are known already do not change. @returns the last height that was read; undefined if there was nothing to read
 * @throws if the network was never scanned, the node fails, or the chain is reorganised meanwhile
 */
export async function rescan(options: RescanOptions): Promise<number | undefined> {
  const { database, chain, sink, from, to = Infinity, signal, onProgress } = options;
  const end = Math.min(to, (await requireCursor(database.reader, chain)).height);
  let read: number | undefined;
  for (let start = from; start <= end; start += blocksAtOnce) {
    const blocks = await readBlocks(chain, start, Math.min(end, start + blocksAtOnce - 1), signal);
    await database.write((transaction) =>
      applyOldBlocks(transaction, chain, sink, blocks, async (cursor) => {
        const first_height = Math.min(cursor.first_height, start);
        const gaps = withoutRead(cursor, blocks);
        if (first_height === cursor.first_height && isDeepStrictEqual(gaps, cursor.gaps)) return;
        await updateCursor(transaction, chain, { first_height, gaps }).execute();
      }),
    );
    read = blocks.at(-1)?.height ?? read;
    if (read !== undefined) onProgress?.(read, end);
  }
  return read;
}

/**
 * Applies blocks that are not above the cursor. The cursor stays where it is.
 * @param change called with the locked cursor before that
 * @throws if the blocks are not those that were scanned
 */
export async function applyOldBlocks(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  sink: ScanSink,
  blocks: readonly ChainBlock[],
  change?: (cursor: ChainCursorRow) => Promise<void>,
): Promise<void> {
  // Makes the scanner wait: blocks that it has orphaned must not be applied afterwards.
  const cursor = await lockCursor(transaction, { mode, network });
  const stored = await readScannedBlocks(transaction, { mode, network });
  const hashes = new Map(stored.map(({ height, hash }) => [height, hash]));
  const isStale = blocks.some(
    ({ height, hash }) => height > cursor.height || (hashes.get(height) ?? hash) !== hash,
  );
  if (isStale) throw new Error(`${network} was reorganised meanwhile; run the command again`);
  await change?.(cursor);
  await sink.apply(transaction, {
    mode,
    network,
    orphanedAbove: undefined,
    blocks,
    checked: [],
    pending: undefined,
    head: { height: cursor.height, hash: cursor.hash },
    finalHeight: cursor.final_height ?? undefined,
    readBefore: 0,
  });
}

/**
 * Reverts all receipts from a height on, and lets the scan continue from there: for a reorganisation that reaches
 * below the blocks that are kept. Receipts in blocks that are still on the chain stay.
 * @returns the height of the cursor before, and now
 * @throws if the network was never scanned, the node fails, or `from` is not below the blocks that are kept
 */
export async function acceptReorg(options: RescanOptions): Promise<{ before: number; now: number }> {
  const { database, chain, sink, from, signal } = options;
  const { mode, network } = chain;
  const { height: before } = await requireCursor(database.reader, chain);
  const start = await skipUnchanged(database, chain, from, signal);
  const base = await chain.block(start - 1, signal);
  if (!base) throw new Error(`The node does not have block ${start - 1} of ${network}`);
  const head = { height: base.height, hash: base.hash };
  let outcome: 'complete' | 'more' = 'more';
  for (let isFirst = true; outcome === 'more'; isFirst = false) {
    outcome = await database.write(async (transaction) => {
      const cursor = await lockCursor(transaction, chain);
      if (isFirst) {
        const kept = await readScannedBlocks(transaction, chain);
        const lowest = kept.at(-1)?.height ?? cursor.height;
        // A block that is kept and still there is not orphaned: the command was run before.
        const isShared = kept.some(({ height, hash }) => height === head.height && hash === head.hash);
        if (from > lowest && !isShared) {
          throw new Error(
            `--from must be at most ${lowest}: the fork is below that block, the oldest one that is kept`,
          );
        }
        // Takes the lease from a scan that is running now, so that it cannot write the blocks that it has read.
        const lease = { lease_holder: 'rescan', lease_until: 0, final_height: null };
        const first_height = Math.min(cursor.first_height, head.height);
        await updateCursor(transaction, chain, { ...head, ...lease, first_height, problem: null }).execute();
        await writeScannedBlocks(transaction, chain, -1, [head], -1);
      }
      return sink.apply(transaction, {
        mode,
        network,
        orphanedAbove: isFirst ? head.height : undefined,
        blocks: [],
        checked: [],
        pending: undefined,
        head,
        finalHeight: undefined,
        readBefore: 0,
      });
    });
  }
  return { before, now: head.height };
}

/**
 * The height after the newest block that has a receipt and is still on the chain, if that is above a height. A block names
 * all those before it, so the newest that is still there is found by halves.
 */
async function skipUnchanged(
  { reader }: Database,
  chain: Chain,
  from: number,
  signal: AbortSignal,
): Promise<number> {
  const { mode, network } = chain;
  const received = await reader
    .selectFrom('receipts')
    .select(['block_height as height', 'block_hash as hash'])
    .distinct()
    .where((e) => e.and({ mode, network }))
    .where('status', 'in', ['seen', 'confirmed'])
    .where('block_height', '>=', from)
    .orderBy('block_height')
    .execute();
  let [unchanged, replaced] = [-1, received.length];
  while (replaced - unchanged > 1) {
    const middle = Math.floor((unchanged + replaced) / 2);
    const { height, hash } = received[middle] ?? {};
    const block = await chain.block(height ?? 0, signal);
    if (block && block.hash === hash) unchanged = middle;
    else replaced = middle;
  }
  return Math.max(from, (received[unchanged]?.height ?? 0) + 1);
}

/** @throws if the network was never scanned */
export async function requireCursor(reader: Reader, chain: NetworkRef): Promise<ChainCursorRow> {
  const cursor = await readCursor(reader, chain);
  if (cursor) return cursor;
  throw new Error(`${chain.network} (${chain.mode}) was never scanned; start the server first`);
}

async function readBlocks(
  chain: Chain,
  start: number,
  end: number,
  signal: AbortSignal,
): Promise<ChainBlock[]> {
  const blocks: ChainBlock[] = [];
  for (let height = start; height <= end; height += 1) {
    const block = await chain.block(height, signal);
    if (!block) throw new Error(`The node does not have block ${height} of ${chain.network}`);
    const last = blocks.at(-1);
    if (last && block.parentHash !== last.hash) {
      throw new Error(`${chain.network} was reorganised meanwhile; run the command again`);
    }
    blocks.push(block);
  }
  return blocks;
}
