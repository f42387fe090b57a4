/** Reads blocks with their logs from one node: one block by its hash, or many by ranges while catching up. */
import { isNodeFailure, NodeError, RpcFailure, unlessRefused } from '../rpc/node-error.js';
import type { EvmClient } from './client.js';
import type { EvmBlock, EvmHeader, EvmLog, EvmReceipt } from './replies.js';
import { inconsistent, type ReadBlock, type WithLogs } from './transfers.js';
import { isWanted, mayHaveLogs, type WantedLogs } from './wanted-logs.js';
import { groupBy } from '../../../core/shared/group-by.js';

/** The number of times that a block is read again if it is replaced while it is read. */
const attempts = 3;

/**
 * The block of a node's best chain at a height, with its logs by its hash; undefined above the node's head.
 * @param expected the hash that the block has as far as is known: its logs are then asked for in the same request
 */
export async function readBlock(
  evm: EvmClient,
  height: number,
  wanted: readonly WantedLogs[],
  expected?: string,
): Promise<ReadBlock | undefined> {
  let replaced: string | undefined;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const isExpected = expected !== undefined && attempt === 1 && wanted.length > 0;
    const [block, expectedLogs] = await Promise.all([
      evm.block(height),
      isExpected ? unlessRefused(blockLogs(evm, expected, wanted)) : undefined,
    ]);
    if (!block) return undefined;
    if (block.height !== height) throw inconsistent(evm, height);
    // It knows the block, and does not know its logs: its answers come from servers with different blocks.
    if (block.hash === replaced) throw inconsistent(evm, height);
    const given = block.hash === expected ? expectedLogs : undefined;
    const logs = await readLogs(evm, block, wanted, given);
    if (logs) return { block, logs };
    replaced = block.hash;
  }
  throw inconsistent(evm, height);
}

async function blockLogs(
  evm: EvmClient,
  hash: string,
  wanted: readonly WantedLogs[],
): Promise<readonly EvmLog[] | undefined> {
  const found = await Promise.all(wanted.map((one) => evm.blockLogs(hash, one)));
  return found.every((logs) => logs !== undefined) ? found.flat() : undefined;
}

/**
 * The wanted logs of a block; undefined if the block is not on the chain any more. Logs that a node does not report
 * are in its receipts: some nodes refuse the logs of a block that has many, and some have lost them.
 * @param given the answers that the node has given already
 */
async function readLogs(
  evm: EvmClient,
  block: EvmHeader | EvmBlock,
  wanted: readonly WantedLogs[],
  given?: readonly EvmLog[],
): Promise<readonly EvmLog[] | undefined> {
  if (wanted.length === 0) return [];
  try {
    const ask = () => blockLogs(evm, block.hash, wanted);
    let logs = given ?? (await ask());
    if (logs && isSuspicious(block, logs, wanted)) {
      // A server that has not read the block yet can answer with no logs instead of an error. Another one may answer now.
      logs = await ask();
      if (logs && isSuspicious(block, logs, wanted)) return await logsOfReceipts(evm, block, wanted);
    }
    if (logs) checkLogs(evm, block, logs, wanted);
    return logs;
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    // The node's own error is more useful than one about its receipts, which do not help either.
    const found = await unlessNodeFails(logsOfReceipts(evm, block, wanted));
    if (!found) throw error;
    return found;
  }
}

async function unlessNodeFails<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNodeFailure(error)) return undefined;
    throw error;
  }
}

/** True if a block seems to have logs of a kind of which none was reported. It can be wrong, as bloom filters can. */
function isSuspicious(
  { logsBloom }: EvmHeader,
  logs: readonly EvmLog[],
  wanted: readonly WantedLogs[],
): boolean {
  if (logsBloom === undefined) return false;
  return wanted.some((one) => !logs.some((log) => isWanted(log, [one])) && mayHaveLogs(logsBloom, [one]));
}

/**
 * The wanted logs in the receipts of a block, which decide whether it has any. A node that does not report those of a block, or
 * reports none of a block that has logs, is asked for the receipt of each transaction.
 * @throws NodeError if the receipts are not those of the block
 */
async function logsOfReceipts(
  evm: EvmClient,
  block: EvmHeader | EvmBlock,
  wanted: readonly WantedLogs[],
): Promise<readonly EvmLog[]> {
  const ofBlock = await evm.blockReceipts(block.height);
  const receipts = ofBlock && hasLogs(ofBlock) ? ofBlock : await receiptsOfEach(evm, block);
  // The bloom filter is not empty, so there must be logs, unless the block has no transactions.
  const isWhole = block.logsBloom === undefined || receipts.length === 0 || hasLogs(receipts);
  if (!isWhole || receipts.some(({ blockHash }) => blockHash !== block.hash)) {
    throw inconsistent(evm, block.height);
  }
  return receipts.flatMap(({ logs }) => logs.filter((log) => isWanted(log, wanted)));
}

const hasLogs = (receipts: readonly EvmReceipt[]): boolean => receipts.some(({ logs }) => logs.length > 0);

async function receiptsOfEach(evm: EvmClient, block: EvmHeader | EvmBlock): Promise<EvmReceipt[]> {
  const whole = 'transactions' in block ? block : await evm.block(block.height);
  if (whole?.hash !== block.hash) throw inconsistent(evm, block.height);
  const receipts = await evm.receipts(whole.transactions.map(({ hash }) => hash));
  return receipts.map((receipt) => {
    if (!receipt) throw inconsistent(evm, block.height);
    return receipt;
  });
}

/**
 * Every log must be of the block, and match the request. Its transaction need not be in the block: nodes of Polygon
 * leave out those that bring coins from Ethereum. The receipt proves which ones are ours.
 */
function checkLogs(
  evm: EvmClient,
  block: EvmHeader,
  logs: readonly EvmLog[],
  wanted: readonly WantedLogs[],
): void {
  for (const log of logs) {
    if (log.blockHash !== block.hash) throw inconsistent(evm, block.height);
    if (!isWanted(log, wanted)) {
      throw new NodeError('garbage', `${evm.name} answered with logs that were not asked for`);
    }
  }
}

export interface BlockRange {
  readonly from: number;
  readonly to: number;
  readonly tip: number;
}

/** Blocks that are being read before they are asked for. */
interface Prefetched<B extends EvmHeader> {
  /** The name of the node. */
  readonly node: string;
  readonly from: number;
  readonly wanted: string;
  /** Undefined if they could not be read. */
  readonly blocks: Promise<readonly WithLogs<B>[] | undefined>;
}

type ReadOne<B> = (evm: EvmClient, height: number) => Promise<B | undefined>;

const firstSize = 8;
const largestSize = 500;
/** A process keeps its turn to scan only if it makes progress: see the lease in `network-scan.ts`. */
const slowMs = 2000;
/** The number of blocks that are read ahead and wait in memory. */
const mostPrefetched = 50;
/** Servers behind a balancer differ by a few blocks. */
const unsureBlocks = 32;

/**
 * Reads ranges of blocks, of a size that adapts to the node.
 * @param readOne a block, or its header if only logs are wanted; undefined above the node's head
 */
export function createRangeReader<B extends EvmHeader>(readOne: ReadOne<B>) {
  let size = firstSize;
  let prefetched: Prefetched<B> | undefined;

  async function readAdapting(
    evm: EvmClient,
    { from, to, tip }: BlockRange,
    wanted: readonly WantedLogs[],
  ): Promise<readonly WithLogs<B>[]> {
    for (;;) {
      const end = Math.min(to, from + size - 1);
      const startedAt = performance.now();
      try {
        const blocks = await readRange(readOne, evm, { from, to: end, tip }, wanted);
        const isSlow = performance.now() - startedAt > slowMs;
        if (isSlow) size = Math.max(1, Math.floor(blocks.length / 2));
        else if (end === from + size - 1) size = Math.min(largestSize, size + Math.ceil(size / 4));
        return blocks;
      } catch (error) {
        if (end === from || !mayFitInParts(error)) throw error;
        size = Math.max(1, Math.floor((end - from + 1) / 2));
      }
    }
  }

  /** The prefetched blocks that fit a call, without those after `to`, which stay for the next call. */
  async function takePrefetched(
    { name }: EvmClient,
    { from, to }: BlockRange,
    wanted: readonly WantedLogs[],
  ): Promise<readonly WithLogs<B>[] | undefined> {
    const taken = prefetched;
    prefetched = undefined;
    if (taken?.node !== name || taken.from !== from || taken.wanted !== JSON.stringify(wanted))
      return undefined;
    const blocks = await taken.blocks;
    const count = to - from + 1;
    if (blocks && blocks.length > count) {
      prefetched = { ...taken, from: to + 1, blocks: Promise.resolve(blocks.slice(count)) };
    }
    return blocks?.slice(0, count);
  }

  return {
    /**
     * Reads blocks from a height on: linked by their hashes, at least one, and as many as the size allows.
     * @param range the blocks to read, and the newest block that a node reported
     */
    async read(evm: EvmClient, range: BlockRange, wanted: readonly WantedLogs[]) {
      return (await takePrefetched(evm, range, wanted)) ?? readAdapting(evm, range, wanted);
    },

    /**
     * Starts to read the blocks that the next call of `read` will want, while the caller works on those that it has. Blocks near
     * the newest one are left out: they can still be replaced.
     * @param evm a client of its own, which the caller does not work with
     */
    prefetch(evm: EvmClient, { from, tip }: Omit<BlockRange, 'to'>, wanted: readonly WantedLogs[]): void {
      const to = tip - unsureBlocks;
      if (prefetched || from > to) return;
      const range = { from, to: Math.min(to, from + mostPrefetched - 1), tip };
      prefetched = {
        node: evm.name,
        from,
        wanted: JSON.stringify(wanted),
        // The user of the blocks reads them again, and meets the error.
        blocks: readAdapting(evm, range, wanted).catch(() => undefined),
      };
    },
  };
}

async function readRange<B extends EvmHeader>(
  readOne: ReadOne<B>,
  evm: EvmClient,
  { from, to, tip }: BlockRange,
  wanted: readonly WantedLogs[],
): Promise<readonly WithLogs<B>[]> {
  // Logs of a range are reported by height. They belong to these blocks only if its last block is the same before and after.
  const before = await evm.header(to);
  if (!before) throw missing(evm, to);
  // One block is asked for by its hash.
  const isRange = from < to;
  const logs = isRange ? (await Promise.all(wanted.map((one) => evm.logs({ from, to, ...one })))).flat() : [];
  const blocks = await readLinked(readOne, evm, from, to);
  if (blocks.at(-1)?.hash !== before.hash) throw inconsistent(evm, to);
  const byBlock = groupBy(logs, ({ blockHash }) => blockHash);
  const read: WithLogs<B>[] = [];
  for (const block of blocks) {
    const own = byBlock.get(block.hash) ?? [];
    byBlock.delete(block.hash);
    checkLogs(evm, block, own, wanted);
    // Without a bloom filter, nothing shows that a server reported only the logs of the blocks that it had read.
    const isUnsure =
      block.logsBloom === undefined
        ? own.length === 0 && block.height > tip - unsureBlocks
        : isSuspicious(block, own, wanted);
    if (wanted.length === 0 || (isRange && !isUnsure)) {
      read.push({ block, logs: own });
      continue;
    }
    const byHash = await readLogs(evm, block, wanted);
    if (!byHash) throw inconsistent(evm, block.height);
    read.push({ block, logs: byHash });
  }
  // The remaining ones belong to blocks that are not in the range: the chain was reorganised in between.
  if (byBlock.size > 0) throw inconsistent(evm, to);
  return read;
}

/** @throws NodeError if one is missing, or they are not of one chain */
async function readLinked<B extends EvmHeader>(
  readOne: ReadOne<B>,
  evm: EvmClient,
  from: number,
  to: number,
): Promise<B[]> {
  const heights = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const found = await Promise.all(heights.map((height) => readOne(evm, height)));
  const blocks = found.map((block, index) => {
    if (!block) throw missing(evm, from + index);
    if (block.height !== from + index) throw inconsistent(evm, from + index);
    return block;
  });
  if (blocks.some(({ parentHash }, index) => index > 0 && parentHash !== blocks[index - 1]?.hash)) {
    throw inconsistent(evm, to);
  }
  return blocks;
}

/**
 * True if fewer blocks at once may help. Nodes word their refusals of large requests in many ways, so any refusal
 * counts.
 */
function mayFitInParts(error: unknown): boolean {
  if (error instanceof RpcFailure) return true;
  return (
    error instanceof NodeError && ['too-large', 'timeout', 'inconsistent', 'behind'].includes(error.fault)
  );
}

const missing = ({ name }: EvmClient, height: number): NodeError =>
  new NodeError('behind', `${name} does not have block ${height} yet`);
