/** Reads blocks again that were scanned before, for what was missed: an address or an asset that was not known then. */
import type { Database } from '../db/database.js';
import { forUpdate } from '../db/locks.js';
import type { Chain, ChainBlock } from './chain.js';
import type { ScanSink } from './scan.js';

export interface RescanOptions {
  readonly database: Database;
  readonly chain: Chain;
  readonly sink: ScanSink;
  /** The first height to read. */
  readonly from: number;
  readonly signal: AbortSignal;
  /** Called after each step, with the height that was read last and the one to read up to. */
  readonly onProgress?: (height: number, end: number) => void;
}

const blocksAtOnce = 50;

/**
 * The cursor stays where it is, so a running server goes on scanning, and depths are counted from where it is. What is known
 * already changes nothing. @returns the last height that was read; undefined if there was nothing to read
 * @throws if the network was never scanned, the node fails, or the chain is reorganised meanwhile
 */
export async function rescan(options: RescanOptions): Promise<number | undefined> {
  const { database, chain, sink, from, signal, onProgress } = options;
  const { mode, network } = chain;
  const cursorOf = (reader: Database['reader']) =>
    reader.selectFrom('chain_cursors').selectAll().where('mode', '=', mode).where('network', '=', network);
  const first = await cursorOf(database.reader).executeTakeFirst();
  if (!first) throw new Error(`${network} (${mode}) was never scanned; start the server first`);
  const end = first.height;
  let read: number | undefined;
  for (let start = from; start <= end; start += blocksAtOnce) {
    const blocks = await readBlocks(chain, start, Math.min(end, start + blocksAtOnce - 1), signal);
    await database.write(async (transaction) => {
      // The scanner waits: what it has orphaned must not be applied after that.
      const cursor = await cursorOf(transaction).$call(forUpdate(transaction)).executeTakeFirstOrThrow();
      const stored = await transaction
        .selectFrom('scanned_blocks')
        .select(['height', 'hash'])
        .where('mode', '=', mode)
        .where('network', '=', network)
        .where('height', '>=', start)
        .execute();
      const hashes = new Map(stored.map(({ height, hash }) => [height, hash]));
      const isStale = blocks.some(
        ({ height, hash }) => height > cursor.height || (hashes.get(height) ?? hash) !== hash,
      );
      if (isStale) throw new Error(`${network} was reorganised meanwhile; run the command again`);
      await sink.apply(transaction, {
        ...{ mode, network, orphanedAbove: undefined, blocks, pending: undefined, formerPending: undefined },
        head: { height: cursor.height, hash: cursor.hash },
        ...{ syncedAt: cursor.synced_at, readUpTo: 0 },
      });
    });
    read = blocks.at(-1)?.height ?? read;
    if (read !== undefined) onProgress?.(read, end);
  }
  return read;
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
