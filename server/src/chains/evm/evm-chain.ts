/** The chain of an EVM network, read from its nodes over JSON-RPC. */
import type { Chain, ChainBlock, ChainHead } from '../chain.js';
import type { NodeClient } from '../rpc/node-client.js';
import { NodeError, NodesUnavailable, RpcFailure } from '../rpc/node-error.js';
import { createNodePool, type NodePool, type NodeStatus } from '../rpc/node-pool.js';
import { checkContracts, readAssets, type Assets } from './assets.js';
import type { AssetProblem, EvmConfig, EvmDeps } from './config.js';
import { createContractReader } from './contract-transfers.js';
import { evmDialect, type Dialect } from './dialect.js';
import { createPendingReader } from './pending.js';
import { createRangeReader, hexOf, readBlock } from './read-blocks.js';
import { numberOf, parseHeader, parseReceipt } from './replies.js';
import { findTransfers, type ReadBlock, type TransferContext } from './transfers.js';

export interface EvmStatus {
  /** Health and use of each node, in the order of the configuration. */
  readonly nodes: readonly NodeStatus[];
  /** How many requests the budget leaves now; undefined without one. */
  readonly requestsLeft: number | undefined;
  /** Assets that are not read, because their contract is not what the configuration says. Do not offer them. */
  readonly assetProblems: readonly AssetProblem[];
  /** Blocks of which no node told what contracts sent, so that it was not found. */
  readonly blocksWithoutBalances: number;
}

export interface EvmChain extends Chain {
  /** For what the scan does not do. A failure of such work counts against the node here too. */
  readonly nodes: NodePool;
  status(): EvmStatus;
  /** How long the next block has been overdue, by the last known head; 0 if it is not, or if blocks are made on demand. */
  overdueMs(): number;
  /**
   * The height of the block that a transaction is in; undefined if it is in none that the node knows.
   * @param txHash 64 hex digits, with or without 0x
   * @throws NodesUnavailable
   */
  locate(txHash: string, signal: AbortSignal): Promise<number | undefined>;
}

/** How often a node that is behind itself is asked again: its balancer may pass the next request to a better one. */
const headAttempts = 3;
/** How often the finalized block is asked for, and how often a node that tells none. */
const finalizedMs = 10_000;
const finalizedRetryMs = 600_000;
/** How often assets that are off are checked again. */
const recheckMs = 60_000;

/**
 * Creates the chain of an EVM network. Asks nothing of the nodes before the first call.
 *
 * Every call works with one node and starts again with the next one if that fails. A node's chain id is checked before its
 * first use and after each interruption, and the contracts of the tokens with it; a token whose contract does not fit is left out, see
 * `status().assetProblems`.
 *
 * Calls throw NodesUnavailable if no node can be used. Its message has a sentence per node, without URLs.
 * @throws if the configuration has no node, a URL that is none, or a contract that is no address
 */
export function createEvmChain(config: EvmConfig, deps: EvmDeps): EvmChain {
  return createEvmLikeChain(config, deps, evmDialect);
}

/** The same for networks that answer like an EVM network, and write addresses and hashes in another way. */
export function createEvmLikeChain(config: EvmConfig, deps: EvmDeps, dialect: Dialect): EvmChain {
  const { code, mode, blockTimeMs } = config;
  const { now = Date.now, warn = () => {} } = deps;
  const configured = readAssets(code, config.assets, dialect);
  let assets: Assets = configured;
  let assetProblems: readonly AssetProblem[] = [];
  const context: TransferContext = {
    get assets() {
      return assets;
    },
    dialect,
    watched: deps.watched,
  };
  let assetsCheckedAt = 0;
  async function checkAssets(node: NodeClient, signal: AbortSignal): Promise<void> {
    const problems = await checkContracts(node, code, configured, signal);
    const known = new Set(assetProblems.map(({ problem }) => problem));
    for (const { problem } of problems) if (!known.has(problem)) warn(problem);
    const off = new Set(problems.map(({ currency }) => currency));
    const tokens = [...configured.tokens].filter(([, { currency }]) => !off.has(currency));
    assetProblems = problems;
    assets = { ...configured, tokens: new Map(tokens) };
    assetsCheckedAt = now();
  }
  const pool = createEvmPool(config, deps, checkAssets);
  const ranges = createRangeReader();
  const pendingReader = createPendingReader(context, deps.hasOpen, now);
  let blocksWithoutBalances = 0;
  const contractReader = createContractReader(context, deps.openNative, (height) => {
    if (blocksWithoutBalances === 0) {
      warn(
        `The nodes of ${code} do not tell what contracts sent in block ${height}, so it is not found there. Use a node that keeps the state of older blocks.`,
      );
    }
    blocksWithoutBalances += 1;
  });
  /** The newest head that was told. */
  let told: ChainHead | undefined;
  /** When the newest block was made, in epoch milliseconds; undefined before the first answer. */
  let newestTime: number | undefined;
  /** A header that came with the pending transactions, for the call of `head` that follows. */
  let latest: { readonly answer: unknown; readonly node: string } | undefined;
  let finalizedNotBefore = 0;
  /** It never goes back, so it stays known between two answers. */
  let finalizedHeight: number | undefined;

  const contracts = () => [...assets.tokens.keys()];

  async function askHead(node: NodeClient, signal: AbortSignal): Promise<ChainHead> {
    const isFinalizedAsked = finalizedNotBefore <= now();
    const tags = isFinalizedAsked ? ['latest', 'finalized'] : ['latest'];
    const [newest, finalized] = await node.batch(
      tags.map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
      signal,
    );
    if (newest instanceof RpcFailure) throw newest;
    const head = readHead(node, newest);
    if (isFinalizedAsked) {
      const isKnown = !(finalized instanceof RpcFailure) && finalized !== null && finalized !== undefined;
      if (isKnown) finalizedHeight = Math.max(finalizedHeight ?? 0, parseHeader(finalized).height);
      finalizedNotBefore = now() + (isKnown ? finalizedMs : finalizedRetryMs);
    }
    return { ...head, finalizedHeight: finalizedHeight && Math.min(finalizedHeight, head.height) };
  }

  function readHead(node: NodeClient, answer: unknown): ChainHead {
    const { height, hash, time } = parseHeader(answer);
    newestTime = time;
    const ageMs = now() - time;
    if (blockTimeMs !== undefined && ageMs > 3 * blockTimeMs + 60_000) {
      const minutes = Math.round(ageMs / 60_000);
      throw new NodeError(
        'behind',
        `${node.name} is behind: its newest block ${height} is ${minutes} minutes old`,
      );
    }
    return { height, hash };
  }

  async function toBlocks(
    node: NodeClient,
    blocks: readonly ReadBlock[],
    signal: AbortSignal,
  ): Promise<ChainBlock[]> {
    const found = await findTransfers(node, blocks, context, signal);
    const inContracts = await contractReader.read(node, blocks, found, signal);
    return blocks.map(({ block: { height, hash, parentHash, time } }, index) => ({
      height,
      hash: dialect.writeHash(hash),
      parentHash: dialect.writeHash(parentHash),
      time,
      transfers: [...(found[index] ?? []), ...(inContracts[index] ?? [])],
    }));
  }

  return {
    mode,
    network: code,
    nodes: pool,

    async head(signal) {
      /** The best of the heads that are lower than one told before. */
      let lower: ChainHead | undefined;
      const given = latest;
      latest = undefined;
      let head: ChainHead;
      try {
        head = await pool.run(async (node) => {
          // A node that was not synchronised when it was asked does not know new contracts.
          if (assetProblems.length > 0 && now() - assetsCheckedAt > recheckMs)
            await checkAssets(node, signal);
          if (given?.node === node.name && !(given.answer instanceof RpcFailure)) {
            const quick = readHead(node, given.answer);
            if (quick.hash === told?.hash) return told;
          }
          for (let attempt = 1; ; attempt += 1) {
            const asked = await askHead(node, signal);
            if (asked.height >= (told?.height ?? 0)) return asked;
            if (!lower || asked.height > lower.height) lower = asked;
            if (attempt < headAttempts) continue;
            throw new NodeError('behind', `${node.name} is behind: it is at block ${asked.height}`);
          }
        }, signal);
      } catch (error) {
        // Maybe blocks were taken back. The scanner compares hashes, and waits if nothing but the newest are missing.
        if (!(error instanceof NodesUnavailable) || !lower) throw error;
        head = lower;
      }
      told = head;
      return { ...head, hash: dialect.writeHash(head.hash) };
    },

    block: (height, signal) =>
      pool.run(async (node) => {
        const expected = told?.height === height ? told.hash : undefined;
        const read = await readBlock(node, height, contracts(), signal, expected);
        if (!read) {
          if (height > (told?.height ?? Infinity)) return undefined;
          throw new NodeError('behind', `${node.name} is behind: it does not have block ${height}`);
        }
        const [block] = await toBlocks(node, [read], signal);
        return block;
      }, signal),

    blocks: (from, to, signal) =>
      pool.run(async (node) => {
        const tip = told?.height ?? to;
        const read = await ranges.read(node, { from, to, tip }, contracts(), signal);
        ranges.prefetch(node, { from: from + read.length, tip }, contracts(), signal);
        return toBlocks(node, read, signal);
      }, signal),

    async pending(signal) {
      const head = told;
      if (!head || !dialect.hasPending) return [];
      return pool.run(async (node) => {
        const { transfers, latest: answer } = await pendingReader.read(node, head, signal);
        if (answer !== undefined) latest = { answer, node: node.name };
        return transfers;
      }, signal);
    },

    overdueMs() {
      if (blockTimeMs === undefined || newestTime === undefined) return 0;
      return Math.max(0, now() - newestTime - blockTimeMs);
    },

    locate: (txHash, signal) =>
      pool.run(async (node) => {
        const hash = `0x${txHash.replace(/^0x/i, '').toLowerCase()}`;
        const answer = await node.call('eth_getTransactionReceipt', [hash], signal);
        if (answer === null) return undefined;
        const { blockHash, height } = parseReceipt(answer);
        const block = await node.call('eth_getBlockByNumber', [hexOf(height), false], signal);
        return block !== null && parseHeader(block).hash === blockHash ? height : undefined;
      }, signal),

    status: () => ({
      nodes: pool.status(),
      requestsLeft: pool.requestsLeft(),
      assetProblems,
      blocksWithoutBalances,
    }),
  };
}

/**
 * The pool of an EVM network's nodes, which checks their chain id.
 * @param verifyMore more checks of a node before it is used
 */
export function createEvmPool(
  config: EvmConfig,
  { now, warn }: Pick<EvmDeps, 'now' | 'warn'>,
  verifyMore?: (node: NodeClient, signal: AbortSignal) => Promise<void>,
): NodePool {
  const { code, chainId, nodes, headers, timeoutMs, maxBatch, requestsPerMinute } = config;
  return createNodePool({
    network: code,
    nodes,
    headers,
    timeoutMs,
    maxBatch,
    requestsPerMinute,
    now,
    async verify(node, signal) {
      const actual = numberOf(await node.call('eth_chainId', [], signal));
      if (actual !== chainId) {
        throw new NodeError(
          'wrong-network',
          `${node.name} is on another network: ${code} has the chain id ${chainId}, the node has ${actual}. Correct its URL`,
        );
      }
      await verifyMore?.(node, signal);
    },
    onChange(node, problem) {
      warn?.(problem === undefined ? `${code}: ${node} works again` : `${code}: ${problem}`);
    },
  });
}
