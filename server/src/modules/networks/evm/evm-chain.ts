/** The chain of an EVM network, read from its nodes over JSON-RPC. */
import type {
  BlockPlace,
  Chain,
  ChainBlock,
  ChainTransfer,
  TransactionCost,
} from '../../../core/chains/chain.js';
import { NodeError } from '../rpc/node-error.js';
import { createBalanceSource } from './balances.js';
import { createCheckedAssets } from './checked-assets.js';
import type { EvmClient } from './client.js';
import { findForgotten } from '../forgotten.js';
import type { ChainDeps } from '../nodes.js';
import type { ConnectionStatus } from '../../../core/chains/connected.js';
import { evmDialect } from './dialect.js';
import { createEvmNodes, type EvmConfig } from './evm-nodes.js';
import { createHeadReader } from './head.js';
import { createPendingReader } from './pending.js';
import { createRangeReader, readBlock } from './read-blocks.js';
import type { EvmHeader } from './replies.js';
import { transferLogs } from './token.js';
import { findContractMoves, findTransfers, type ReadBlock, type TransferContext } from './transfers.js';

export type EvmChain = ReturnType<typeof createEvmChain>;

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
export function createEvmChain(config: EvmConfig, deps: ChainDeps) {
  const { network, mode, blockTimeMs, dialect = evmDialect } = config;
  const { now = Date.now, warn = () => {}, hasOpen = () => Promise.resolve(true) } = deps;
  const checked = createCheckedAssets(config, dialect, now, warn);
  const context: TransferContext = {
    get assets() {
      return checked.assets();
    },
    dialect,
    watched: deps.watched,
  };
  const nodes = createEvmNodes(config, deps, (evm) => {
    head.doubt(evm);
    return checked.check(evm);
  });
  const head = createHeadReader(nodes, blockTimeMs, now, (message) => warn(`${network}: ${message}`));
  const ranges = createRangeReader((evm, height) => evm.block(height));
  const readPending = createPendingReader(context, hasOpen);
  const wanted = () => transferLogs([...context.assets.tokens.keys()]);

  /** The coins that contracts sent, by block. Only while someone may be paying: they are much to read. */
  async function movesIn(evm: EvmClient, blocks: readonly ReadBlock[]): Promise<ChainTransfer[][]> {
    if (!dialect.contractMoves || !(await hasOpen())) return [];
    const moves: ChainTransfer[][] = [];
    for (const block of blocks) moves.push(await findContractMoves(evm, block, context));
    return moves;
  }

  async function toBlocks(evm: EvmClient, blocks: readonly ReadBlock[]): Promise<ChainBlock[]> {
    const without = checked.problems().map(({ currency }) => currency);
    const found = await findTransfers(evm, blocks, context);
    const inContracts = await movesIn(evm, blocks);
    return blocks.map(({ block }, index) => ({
      ...toBlock(block, [...(found[index] ?? []), ...(inContracts[index] ?? [])]),
      ...(without.length > 0 && { without }),
    }));
  }

  const toBlock = (block: EvmHeader, transfers: readonly ChainTransfer[]): ChainBlock => ({
    height: block.height,
    hash: dialect.writeHash(block.hash),
    parentHash: dialect.writeHash(block.parentHash),
    time: block.time,
    transfers,
  });

  return {
    mode,
    network,
    /** For work outside of the scan. Its failures count against a node in the scan too. */
    nodes,
    /** Reads what addresses hold, from the same nodes. */
    balances: createBalanceSource(nodes, dialect),
    overdueMs: head.overdueMs,
    limits: nodes.limits,

    async head(signal) {
      const { height, hash, finalized } = await head.read(checked.checkAgain, signal);
      return {
        height,
        hash: dialect.writeHash(hash),
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

    blockOfEach: (height, signal) =>
      nodes.each(async (evm) => {
        const [read, finalHeight] = await Promise.all([
          readBlock(evm, height, wanted()),
          head.finalHeight(evm),
        ]);
        const from = { node: evm.name, provider: nodes.providerOf(evm.name) };
        if (!read) return { ...from, block: undefined };
        const [transfers = []] = await findTransfers(evm, [read], context);
        const moves = dialect.contractMoves ? await findContractMoves(evm, read, context) : [];
        return { ...from, block: toBlock(read.block, [...transfers, ...moves]), finalHeight };
      }, signal),

    blocks: (from, to, signal) =>
      nodes.run(async (evm) => {
        const tip = head.latest()?.height ?? to;
        const read = await ranges.read(evm, { from, to, tip }, wanted());
        ranges.prefetch(evm.beside(), { from: from + read.length, tip }, wanted());
        return toBlocks(evm, read);
      }, signal),

    async pending(signal) {
      const latest = head.latest();
      if (!latest || !dialect.hasPending) return [];
      return nodes.run(async (evm) => {
        const read = await readPending(evm, latest);
        head.offer(evm, read.latest);
        return read.transfers;
      }, signal);
    },

    async forgotten(txHashes, height, signal) {
      if (!dialect.hasPending) return new Map(txHashes.map((txHash) => [txHash, 'by all']));
      return findForgotten(
        nodes,
        config.nodes.length,
        txHashes,
        (evm, asked) => Promise.all(asked.map((txHash) => evm.waits(txHash, height))),
        signal,
      );
    },

    /**
     * The cost of a transaction; undefined if it has failed, is in no block, or the node does not report it.
     * @param txHash 64 hex digits, with or without 0x
     * @throws NodesUnavailable
     */
    cost: (txHash: string, signal: AbortSignal) =>
      nodes.run(async (evm): Promise<TransactionCost | undefined> => {
        const hash = hashOf(txHash);
        if (dialect.cost) return dialect.cost(evm, hash);
        const [receipt] = await evm.receipts([hash]);
        if (!receipt?.isSuccess || !receipt.fee) return undefined;
        return { fee: receipt.fee.amount, payer: receipt.fee.payer };
      }, signal),

    /** The block that a transaction is in; undefined if it is in none that the node knows. Same arguments. */
    locate: (txHash: string, signal: AbortSignal) =>
      nodes.run(async (evm): Promise<BlockPlace | undefined> => {
        const [receipt] = await evm.receipts([hashOf(txHash)]);
        const header = receipt && (await evm.header(receipt.height));
        if (!receipt || header?.hash !== receipt.blockHash) return undefined;
        return { height: receipt.height, isFailed: !receipt.isSuccess };
      }, signal),

    /** Do not offer the assets that it names: their contract is not what the configuration says. */
    status: (): ConnectionStatus => ({
      nodes: nodes.status(),
      requestsLeft: nodes.requestsLeft(),
      requestsSpare: nodes.requestsSpare(),
      assetProblems: checked.problems(),
    }),
  } satisfies Chain & Record<string, unknown>;
}

const hashOf = (txHash: string): string => `0x${txHash.replace(/^0x/i, '').toLowerCase()}`;
