/** Bitcoin and Litecoin, read through the JSON-RPC interface of Bitcoin Core and Litecoin Core. */
import { bitcoinRules } from '../../../core/families/kinds.js';
import { defaultNet } from '../../../core/addresses/formats.js';
import type { Chain, ChainBlock, ChainHead } from '../../../core/chains/chain.js';
import type { ConnectionStatus } from '../../../core/chains/connected.js';
import { ChainBehind } from '../../../core/chains/read-chain.js';
import { NodeError } from '../rpc/node-error.js';
import { NodesUnavailable } from '../../../core/chains/nodes-unavailable.js';
import { createBitcoinNodes, isCatchingUp, type BitcoinConfig } from './bitcoin-nodes.js';
import type { BitcoinClient } from './client.js';
import { findForgotten } from '../forgotten.js';
import type { ChainDeps } from '../nodes.js';
import { createMempoolReader, type FindTransfers } from './mempool.js';
import { readTransaction, spentOf, transfersOf } from './transactions.js';

export type BitcoinChain = ReturnType<typeof createBitcoinChain>;

/** While catching up, this many blocks are requested at once: the node reads the next ones while we parse one. */
const blocksAtOnce = 4;
/** By how many blocks the median of the last eleven is old, and as many again that can be late by chance. */
const usualBlocks = 18;
/** The value that the first block has instead of its parent's hash. */
const noParent = '0'.repeat(64);

/**
 * Creates the chain of a Bitcoin or Litecoin network. Asks nothing of the nodes before the first call.
 *
 * Every call works with one node, and starts again with the next one if that fails. Calls throw NodesUnavailable if no node
 * can be used. Its message has a sentence per node, without URLs. If that is because nodes have fewer blocks than were reported
 * before, it is the cause of a ChainBehind.
 * @throws if the configuration has no node, or a URL that is none
 */
export function createBitcoinChain(config: BitcoinConfig, deps: ChainDeps) {
  const { watched, soughtCoins, now } = deps;
  const { mode, network, family, currency } = config;
  const prefixes = bitcoinRules(family).prefixes[config.addressNet ?? defaultNet(mode)];
  const nodes = createBitcoinNodes(config, deps);

  const findTransfers: FindTransfers = async (answers, what, node) => {
    const transactions = answers.map((answer) => {
      const transaction = readTransaction(answer, prefixes);
      if (!transaction) throw node.unknownForm(what);
      return transaction;
    });
    const addresses = new Set(transactions.flatMap(({ outputs }) => outputs.map(({ address }) => address)));
    const ours = addresses.size === 0 ? addresses : await watched([...addresses]);
    if (ours.size === 0) return [];
    return transactions.flatMap((transaction) => transfersOf(transaction, ours, currency, prefixes));
  };

  /** The last head that was read. A lower one needs proof that this one is no longer on the best chain. */
  let latest: ChainHead | undefined;
  /** The name of the node that it was read from. */
  let latestNode: string | undefined;
  let medianTime: number | undefined;
  /** A head that was no longer its node's when the mempool was read: the next one must be another. */
  let outdated: string | undefined;

  /** @param refused gets a head that is lower than the last one */
  async function readHead(
    node: BitcoinClient,
    outdatedHash: string | undefined,
    refused: ChainHead[],
  ): Promise<ChainHead> {
    const info = await node.info();
    const { blocks: height, bestblockhash: hash, mediantime } = info;
    if (isCatchingUp(info)) {
      throw new NodeError(
        'behind',
        `${node.name} is still catching up: it has ${height} of ${info.headers} blocks`,
      );
    }
    if (latest && height < latest.height && !(await isReplaced(node, latest))) {
      refused.push({ height, hash });
      throw new NodeError(
        'behind',
        `${node.name} is behind: it is at block ${height}, and block ${latest.height} was read before`,
      );
    }
    if (hash === outdatedHash)
      throw new NodeError('behind', `${node.name} is behind: another node has left block ${height}`);
    latestNode = node.name;
    if (mediantime !== undefined) medianTime = mediantime * 1000;
    return { height, hash };
  }

  async function readBlock(node: BitcoinClient, height: number): Promise<ChainBlock | undefined> {
    const hash = await node.blockHash(height);
    if (hash === undefined) return undefined;
    const { previousblockhash: parentHash = noParent, time, tx } = await node.block(hash, height);
    const transfers = await findTransfers(tx, `block ${height}`, node);
    const sought = (await soughtCoins?.()) ?? new Set();
    const spent = sought.size === 0 ? [] : spentOf(tx, sought);
    return { height, hash, parentHash, time: time * 1000, transfers, ...(spent.length > 0 && { spent }) };
  }

  const readMempool = createMempoolReader(findTransfers, now ?? Date.now);

  /**
   * Reads the mempool of a node that has the same head as the one that was read last. If that changes meanwhile, the
   * scanner must notice: a transaction that has just gone into a block is not in the mempool any more, and must not
   * count as dropped.
   */
  async function readPending(node: BitcoinClient, signal: AbortSignal) {
    const { transfers, head } = await readMempool(node, signal);
    // A node without one has said nothing of its head.
    if (latest && head !== undefined && head !== latest.hash) {
      if (node.name !== latestNode) {
        throw new NodeError(
          'inconsistent',
          `${node.name} has another head than ${latestNode ?? 'the last node'}`,
        );
      }
      outdated = latest.hash;
    }
    return transfers;
  }

  return {
    mode,
    network,
    /** For work outside of the scan. A failure of such work counts against the node here too. */
    nodes,

    async head(signal) {
      // Only once: a chain can also return to blocks that it had dropped.
      const outdatedHash = outdated;
      outdated = undefined;
      const refused: ChainHead[] = [];
      try {
        latest = await nodes.run((node) => readHead(node, outdatedHash, refused), signal);
      } catch (error) {
        const [lower] = refused.sort((a, b) => b.height - a.height);
        if (!(error instanceof NodesUnavailable) || !lower || !latest) throw error;
        throw new ChainBehind({ mode, network }, lower, latest, { cause: error });
      }
      return latest;
    },

    // Blocks come at random: now and then, none comes for an hour.
    overdueMs() {
      if (config.blockTimeMs === undefined || medianTime === undefined) return 0;
      return Math.max(0, (now ?? Date.now)() - medianTime - usualBlocks * config.blockTimeMs);
    },

    limits: nodes.limits,

    forgetHead() {
      latest = undefined;
    },

    block: (height, signal) => nodes.run((node) => readBlock(node, height), signal),

    blockOfEach: (height, signal) =>
      nodes.each(async (node) => {
        const provider = nodes.providerOf(node.name);
        return { node: node.name, provider, block: await readBlock(node, height) };
      }, signal),

    blocks: (from, to, signal) =>
      nodes.run(async (node) => {
        const end = Math.min(to, from + blocksAtOnce - 1);
        const heights = Array.from({ length: end - from + 1 }, (_, index) => from + index);
        const blocks = await Promise.all(heights.map((height) => readBlock(node, height)));
        const missing = blocks.indexOf(undefined);
        return blocks.slice(0, missing < 0 ? undefined : missing).filter((block) => block !== undefined);
      }, signal),

    pending: (signal) => nodes.run((node) => readPending(node, signal), signal),

    forgotten: (txHashes, height, signal) =>
      findForgotten(
        nodes,
        config.nodes.length,
        txHashes,
        (node, asked) => node.areWaiting(asked, height),
        signal,
      ),

    status: (): ConnectionStatus => ({
      nodes: nodes.status(),
      requestsLeft: nodes.requestsLeft(),
      requestsSpare: nodes.requestsSpare(),
      assetProblems: [],
    }),
  } satisfies Chain & Record<string, unknown>;
}

/** True if a node knows a block, and knows that it is not on the best chain. */
async function isReplaced(node: BitcoinClient, { hash }: ChainHead): Promise<boolean> {
  return (await node.header(hash))?.confirmations === -1;
}
