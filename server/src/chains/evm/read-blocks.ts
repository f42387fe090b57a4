/** Reads blocks with their token logs from one node: one block by its hash, or many by ranges while catching up. */
import type { NodeClient } from '../rpc/node-client.js';
import { NodeError, RpcFailure } from '../rpc/node-error.js';
import { parseBlock, parseHeader, parseLogs, parseReceipt, type EvmBlock, type EvmLog } from './replies.js';
import { mayHaveTransfers, transferTopic } from './token.js';
import type { ReadBlock } from './transfers.js';

export const hexOf = (height: number): string => `0x${height.toString(16)}`;

/** How often a block is read again if it is replaced while it is read. */
const attempts = 3;

/**
 * The block of a node's best chain at a height, with its logs by its hash; undefined above the node's head.
 * @param contracts in lower-case hex
 * @param expected the hash that the block has as far as is known: its logs are then asked for in the same request
 */
export async function readBlock(
  node: NodeClient,
  height: number,
  contracts: readonly string[],
  signal: AbortSignal,
  expected?: string,
): Promise<ReadBlock | undefined> {
  let replaced: string | undefined;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const isExpected = expected !== undefined && attempt === 1 && contracts.length > 0;
    const [answer, answeredLogs] = await node.batch(
      [
        { method: 'eth_getBlockByNumber', params: [hexOf(height), true] },
        ...(isExpected ? [{ method: 'eth_getLogs', params: [logFilter(expected, contracts)] }] : []),
      ],
      signal,
    );
    if (answer instanceof RpcFailure) throw answer;
    if (answer === null) return undefined;
    const block = parseBlock(answer);
    if (block.height !== height) throw inconsistent(node, height);
    // It knows the block, and does not know its logs: its answers come from servers with different blocks.
    if (block.hash === replaced) throw inconsistent(node, height);
    const given = block.hash === expected && Array.isArray(answeredLogs) ? answeredLogs : undefined;
    const logs = await readLogs(node, block, contracts, signal, given);
    if (logs) return { block, logs };
    replaced = block.hash;
  }
  throw inconsistent(node, height);
}

const logFilter = (blockHash: string, contracts: readonly string[]) => ({
  ...{ blockHash, address: contracts, topics: [transferTopic] },
});

/**
 * The transfer logs of a block; undefined if the block is not on the chain any more, which nodes answer with an error.
 * @param given what the node has answered already
 */
async function readLogs(
  node: NodeClient,
  block: EvmBlock,
  contracts: readonly string[],
  signal: AbortSignal,
  given?: unknown,
): Promise<readonly EvmLog[] | undefined> {
  if (contracts.length === 0) return [];
  const read = (answer: unknown): readonly EvmLog[] => {
    const logs = parseLogs(answer);
    checkLogs(node, block, logs, contracts);
    return logs;
  };
  const ask = async () => read(await node.call('eth_getLogs', [logFilter(block.hash, contracts)], signal));
  try {
    const logs = given === undefined ? await ask() : read(given);
    if (logs.length > 0 || !isSuspicious(block, contracts)) return logs;
    // A server that has not read the block yet can answer with no logs instead of an error. Another one may answer now.
    const again = await ask();
    if (again.length === 0) await checkByReceipts(node, block, contracts, signal);
    return again;
  } catch (error) {
    if (error instanceof RpcFailure && !isUnsupported(error)) return undefined;
    throw error;
  }
}

/** Whether a block without logs seems to have some. It can be wrong, because a bloom filter can. */
function isSuspicious({ logsBloom }: EvmBlock, contracts: readonly string[]): boolean {
  return logsBloom !== undefined && mayHaveTransfers(logsBloom, contracts);
}

/** The receipts of a block decide whether it has none of the logs. Nodes that do not tell them are believed. */
async function checkByReceipts(
  node: NodeClient,
  block: EvmBlock,
  contracts: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const [answer] = await node.batch(
    [{ method: 'eth_getBlockReceipts', params: [hexOf(block.height)] }],
    signal,
  );
  if (!Array.isArray(answer)) return;
  const logs = answer.map(parseReceipt).flatMap((receipt) => receipt.logs);
  const isMissed = ({ address, topics }: EvmLog) =>
    contracts.includes(address) && topics[0] === transferTopic && topics.length === 3;
  if (logs.some(isMissed)) throw inconsistent(node, block.height);
}

/** Every log must be of the block, of one of its transactions, and of what was asked for. */
function checkLogs(
  node: NodeClient,
  block: EvmBlock,
  logs: readonly EvmLog[],
  contracts: readonly string[],
): void {
  if (logs.length === 0) return;
  const hashes = new Set(block.transactions.map(({ hash }) => hash));
  const allowed = new Set(contracts);
  for (const log of logs) {
    if (log.blockHash !== block.hash || !hashes.has(log.transactionHash))
      throw inconsistent(node, block.height);
    if (!allowed.has(log.address)) {
      throw new NodeError('garbage', `${node.name} answered with logs that were not asked for`);
    }
  }
}

/** A method or parameter that the node does not have: another block would not help. */
function isUnsupported({ code }: RpcFailure): boolean {
  return code === -32601 || code === -32602;
}

export interface BlockRange {
  readonly from: number;
  readonly to: number;
  readonly tip: number;
}

/** Reads ranges of blocks, of a size that follows what the node bears. */
export interface RangeReader {
  /**
   * Reads blocks from a height on: linked by their hashes, at least one, and as many as the size allows.
   * @param range the blocks to read, and the newest block that a node told of
   */
  read(
    node: NodeClient,
    range: BlockRange,
    contracts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ReadBlock[]>;
  /**
   * Starts to read the blocks that the next call of `read` will want, while the caller works on those that it has. Blocks near
   * the newest one are left out: they can still be replaced.
   */
  prefetch(
    node: NodeClient,
    range: Omit<BlockRange, 'to'>,
    contracts: readonly string[],
    signal: AbortSignal,
  ): void;
  /** The most blocks that are read at once now. */
  size(): number;
}

/** Blocks that are being read before they are asked for. */
interface Prefetched {
  readonly node: NodeClient;
  readonly from: number;
  readonly contracts: string;
  /** Undefined if they could not be read. */
  readonly blocks: Promise<readonly ReadBlock[] | undefined>;
}

const firstSize = 8;
const largestSize = 500;
/** A process keeps its turn to scan only if it gets on: see the lease in `network-scan.ts`. */
const slowMs = 2000;
/** What is read before it is asked for waits in memory. */
const mostPrefetched = 50;
/** Servers behind a balancer differ by a few blocks. */
const unsureBlocks = 32;

export function createRangeReader(): RangeReader {
  let size = firstSize;

  async function readRange(
    node: NodeClient,
    { from, to, tip }: BlockRange,
    contracts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ReadBlock[]> {
    // Logs of a range are told by height. Only if its last block is the same before and after are they of these blocks.
    const before = await readHash(node, to, signal);
    const filter = {
      fromBlock: hexOf(from),
      toBlock: hexOf(to),
      address: contracts,
      topics: [transferTopic],
    };
    const logs = contracts.length === 0 ? [] : parseLogs(await node.call('eth_getLogs', [filter], signal));
    const heights = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const answers = await node.batch(
      heights.map((height) => ({ method: 'eth_getBlockByNumber', params: [hexOf(height), true] })),
      signal,
    );
    const blocks = answers.map((answer, index) => {
      if (answer instanceof RpcFailure) throw answer;
      const height = from + index;
      if (answer === null) throw new NodeError('behind', `${node.name} does not have block ${height} yet`);
      const block = parseBlock(answer);
      if (block.height !== height) throw inconsistent(node, height);
      return block;
    });
    const isLinked = blocks.every(
      ({ parentHash }, index) => index === 0 || parentHash === blocks[index - 1]?.hash,
    );
    if (!isLinked || blocks.at(-1)?.hash !== before) throw inconsistent(node, to);
    const byBlock = new Map<string, EvmLog[]>();
    for (const log of logs) byBlock.set(log.blockHash, [...(byBlock.get(log.blockHash) ?? []), log]);
    const read: ReadBlock[] = [];
    for (const block of blocks) {
      const own = byBlock.get(block.hash) ?? [];
      byBlock.delete(block.hash);
      checkLogs(node, block, own, contracts);
      // Without a bloom filter, nothing shows that a server told only the logs of the blocks that it had read.
      const isUnsure =
        block.logsBloom === undefined ? block.height > tip - unsureBlocks : isSuspicious(block, contracts);
      if (own.length > 0 || contracts.length === 0 || !isUnsure) {
        read.push({ block, logs: own });
        continue;
      }
      const byHash = await readLogs(node, block, contracts, signal);
      if (!byHash) throw inconsistent(node, block.height);
      read.push({ block, logs: byHash });
    }
    // What is left belongs to blocks that are not in the range: the chain was reorganised in between.
    if (byBlock.size > 0) throw inconsistent(node, to);
    return read;
  }

  async function readAdapting(
    node: NodeClient,
    { from, to, tip }: BlockRange,
    contracts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ReadBlock[]> {
    for (;;) {
      const end = Math.min(to, from + size - 1);
      const startedAt = performance.now();
      try {
        const blocks = await readRange(node, { from, to: end, tip }, contracts, signal);
        const isSlow = performance.now() - startedAt > slowMs;
        if (isSlow) size = Math.max(1, Math.floor(blocks.length / 2));
        else if (end === from + size - 1) size = Math.min(largestSize, size + Math.ceil(size / 4));
        return blocks;
      } catch (error) {
        signal.throwIfAborted();
        if (end === from || !isTooMuch(error)) throw error;
        size = Math.max(1, Math.floor((end - from + 1) / 2));
      }
    }
  }

  /** The prefetched blocks that fit a call, without those after `to`, which stay for the next call. */
  async function takePrefetched(
    node: NodeClient,
    { from, to }: BlockRange,
    contracts: readonly string[],
  ): Promise<readonly ReadBlock[] | undefined> {
    const taken = prefetched;
    prefetched = undefined;
    if (taken?.node !== node || taken.from !== from || taken.contracts !== contracts.join()) return undefined;
    const blocks = await taken.blocks;
    const count = to - from + 1;
    if (blocks && blocks.length > count) {
      prefetched = { ...taken, from: to + 1, blocks: Promise.resolve(blocks.slice(count)) };
    }
    return blocks?.slice(0, count);
  }

  let prefetched: Prefetched | undefined;
  return {
    size: () => size,

    async read(node, range, contracts, signal) {
      const blocks = await takePrefetched(node, range, contracts);
      signal.throwIfAborted();
      return blocks ?? readAdapting(node, range, contracts, signal);
    },

    prefetch(node, { from, tip }, contracts, signal) {
      const to = tip - unsureBlocks;
      if (prefetched || from > to) return;
      const range = { from, to: Math.min(to, from + mostPrefetched - 1), tip };
      prefetched = {
        ...{ node, from, contracts: contracts.join() },
        // Whoever needs the blocks reads them again, and meets the error.
        blocks: readAdapting(node, range, contracts, signal).catch(() => undefined),
      };
    },
  };
}

/** Whether a smaller range may help. Providers refuse large ones in many words, so any error of the call counts. */
function isTooMuch(error: unknown): boolean {
  if (error instanceof RpcFailure) return true;
  return (
    error instanceof NodeError &&
    (error.fault === 'too-large' || error.fault === 'timeout' || error.fault === 'inconsistent')
  );
}

async function readHash(node: NodeClient, height: number, signal: AbortSignal): Promise<string> {
  const answer = await node.call('eth_getBlockByNumber', [hexOf(height), false], signal);
  if (answer === null) throw new NodeError('behind', `${node.name} does not have block ${height} yet`);
  return parseHeader(answer).hash;
}

function inconsistent(node: NodeClient, height: number): NodeError {
  return new NodeError(
    'inconsistent',
    `${node.name} gave answers about block ${height} that do not fit each other`,
  );
}
