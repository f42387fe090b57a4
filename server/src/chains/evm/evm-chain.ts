/** The chain of an EVM network, read from its nodes over JSON-RPC. */
import type { Chain, ChainBlock } from '../chain.js';
import { NodeError } from '../rpc/node-error.js';
import type { NodeStatus } from '../rpc/node-pool.js';
import { checkContracts, readAssets, type Assets } from './assets.js';
import type { EvmClient } from './client.js';
import type { AssetProblem, EvmConfig, EvmDeps } from './config.js';
import { createContractReader } from './contract-transfers.js';
import type { TransactionCost } from '../connect.js';
import { evmDialect, type Dialect } from './dialect.js';
import { createEvmNodes, type EvmNodes } from './evm-nodes.js';
import { createHeadReader } from './head.js';
import { createPendingReader } from './pending.js';
import { createRangeReader, readBlock } from './read-blocks.js';
import { transferLogs } from './token.js';
import { findTransfers, type ReadBlock, type TransferContext } from './transfers.js';

export interface EvmStatus {
  /** Health and use of each node, in the order of the configuration. */
  readonly nodes: readonly NodeStatus[];
  /** How many requests the budget leaves now; undefined without one. */
  readonly requestsLeft: number | undefined;
  /** Assets that are not read, because their contract is not what the configuration says. Do not offer them. */
  readonly assetProblems: readonly AssetProblem[];
  /** Blocks of which no node reported what contracts sent, so that it was not found. */
  readonly blocksWithoutBalances: number;
}

export interface EvmChain extends Chain {
  /** For what the scan does not do. A failure of such work counts against the node here too. */
  readonly nodes: EvmNodes;
  status(): EvmStatus;
  /** How long the next block has been overdue, by the last known head; 0 if it is not, or if blocks are made on demand. */
  overdueMs(): number;
  /**
   * The height of the block that a transaction is in; undefined if it is in none that the node knows.
   * @param txHash 64 hex digits, with or without 0x
   * @throws NodesUnavailable
   */
  locate(txHash: string, signal: AbortSignal): Promise<number | undefined>;
  /** What a transaction cost; undefined if it has failed, is in no block, or the node does not tell. Same arguments. */
  cost(txHash: string, signal: AbortSignal): Promise<TransactionCost | undefined>;
}

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
  const { network, mode, blockTimeMs } = config;
  const { now = Date.now, warn = () => {} } = deps;
  const checked = createCheckedAssets(config, dialect, now, warn);
  const context: TransferContext = {
    get assets() {
      return checked.assets();
    },
    dialect,
    watched: deps.watched,
  };
  const nodes = createEvmNodes(config, deps, checked.check);
  const head = createHeadReader(nodes, blockTimeMs, now, (message) => warn(`${network}: ${message}`));
  const ranges = createRangeReader((evm, height) => evm.block(height));
  const pendingReader = createPendingReader(context, deps.hasOpen, now);
  let blocksWithoutBalances = 0;
  const contractReader = createContractReader(context, deps.openNative, (height) => {
    if (blocksWithoutBalances === 0) {
      warn(
        `The nodes of ${network} do not report what contracts sent in block ${height}, so it is not found there. Use a node that keeps the state of older blocks.`,
      );
    }
    blocksWithoutBalances += 1;
  });
  const wanted = () => transferLogs([...context.assets.tokens.keys()]);

  async function toBlocks(evm: EvmClient, blocks: readonly ReadBlock[]): Promise<ChainBlock[]> {
    const found = await findTransfers(evm, blocks, context);
    const inContracts = await contractReader.read(evm, blocks, found);
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
    network,
    nodes,
    overdueMs: head.overdueMs,

    async head(signal) {
      const { height, hash, finalized } = await head.read(checked.checkAgain, signal);
      return {
        ...{ height, hash: dialect.writeHash(hash) },
        finalized: finalized && { ...finalized, hash: dialect.writeHash(finalized.hash) },
      };
    },

    block: (height, signal) =>
      nodes.run(async (evm) => {
        const latest = head.latest();
        const expected = latest?.height === height ? latest.hash : undefined;
        const read = await readBlock(evm, height, wanted(), expected);
        if (!read) {
          if (height > (latest?.height ?? Infinity)) return undefined;
          throw new NodeError('behind', `${evm.name} is behind: it does not have block ${height}`);
        }
        const [block] = await toBlocks(evm, [read]);
        return block;
      }, signal),

    blocks: (from, to, signal) =>
      nodes.run(async (evm) => {
        const tip = head.latest()?.height ?? to;
        const read = await ranges.read(evm, { from, to, tip }, wanted());
        ranges.prefetch(evm, { from: from + read.length, tip }, wanted());
        return toBlocks(evm, read);
      }, signal),

    async pending(signal) {
      const latest = head.latest();
      if (!latest || !dialect.hasPending) return [];
      return nodes.run(async (evm) => {
        const read = await pendingReader.read(evm, latest);
        head.offer(evm, read.latest);
        return read.transfers;
      }, signal);
    },

    cost: (txHash, signal) =>
      nodes.run(async (evm) => {
        const hash = hashOf(txHash);
        if (dialect.cost) return dialect.cost(evm, hash);
        const [receipt] = await evm.receipts([hash]);
        return receipt?.isSuccess && receipt.fee
          ? { fee: receipt.fee.amount, payer: receipt.fee.payer }
          : undefined;
      }, signal),

    locate: (txHash, signal) =>
      nodes.run(async (evm) => {
        const [receipt] = await evm.receipts([hashOf(txHash)]);
        const header = receipt && (await evm.header(receipt.height));
        return header?.hash === receipt?.blockHash ? receipt?.height : undefined;
      }, signal),

    status: () => ({
      nodes: nodes.status(),
      requestsLeft: nodes.requestsLeft(),
      assetProblems: checked.problems(),
      blocksWithoutBalances,
    }),
  };
}

const hashOf = (txHash: string): string => `0x${txHash.replace(/^0x/i, '').toLowerCase()}`;

/** The assets of a network without those whose contract is not what the configuration says. */
function createCheckedAssets(
  { network, assets: list }: EvmConfig,
  dialect: Dialect,
  now: () => number,
  warn: (message: string) => void,
) {
  const configured = readAssets(network, list, dialect);
  let assets: Assets = configured;
  let problems: readonly AssetProblem[] = [];
  let checkedAt = 0;

  async function check(evm: EvmClient): Promise<void> {
    const found = await checkContracts(evm, network, configured);
    const known = new Set(problems.map(({ problem }) => problem));
    for (const { problem } of found) if (!known.has(problem)) warn(problem);
    const off = new Set(found.map(({ currency }) => currency));
    problems = found;
    assets = {
      ...configured,
      tokens: new Map([...configured.tokens].filter(([, { currency }]) => !off.has(currency))),
    };
    checkedAt = now();
  }

  return {
    check,
    assets: () => assets,
    problems: () => problems,
    /** A node that was not synchronised when it was asked does not know new contracts. */
    async checkAgain(evm: EvmClient): Promise<void> {
      if (problems.length > 0 && now() - checkedAt > recheckMs) await check(evm);
    },
  };
}
