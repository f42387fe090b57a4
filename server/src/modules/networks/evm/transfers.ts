/** Finds the transfers to deposit addresses in blocks that were read, and verifies each by its transaction's receipt. */
import { amountsOf, type ChainAsset } from '../../../core/chains/assets.js';
import { firstContractIndex, type ChainTransfer } from '../../../core/chains/chain.js';
import { NodeError } from '../rpc/node-error.js';
import type { Assets } from './assets.js';
import type { EvmClient } from './client.js';
import type { Dialect } from './dialect.js';
import type { EvmBlock, EvmHeader, EvmLog, EvmReceipt, EvmTransaction } from './replies.js';
import { readTransferLog } from './token.js';

/** A block, or only its header, and the wanted logs in it. */
export interface WithLogs<B extends EvmHeader> {
  readonly block: B;
  readonly logs: readonly EvmLog[];
}

export type ReadBlock = WithLogs<EvmBlock>;

export interface TransferContext {
  readonly assets: Assets;
  readonly dialect: Dialect;
  watched(addresses: readonly string[]): Promise<ReadonlySet<string>>;
}

/**
 * `outputIndex` of the coins that a transaction sends itself. Its logs follow, by their place among the logs of the
 * transaction: unlike their place in the block, it stays when the transaction moves to another block.
 */
export const coinIndex = 0;
export const firstLogIndex = 1;

/** A possible transfer of ours. Hashes and addresses are as nodes write them. */
export interface Move {
  readonly asset: ChainAsset;
  readonly txHash: string;
  readonly from: string | null;
  readonly to: string;
  readonly amount: bigint;
}

interface FoundMove extends Move {
  readonly block: EvmHeader;
  /** A token transfer's log; undefined if the transaction itself sends the coin. */
  readonly log?: EvmLog;
  /** Undefined for a token. */
  readonly transaction?: EvmTransaction;
}

/** The moves to deposit addresses among these. */
export async function oursAmong<M extends Pick<Move, 'to'>>(
  moves: readonly M[],
  { dialect, watched }: TransferContext,
): Promise<M[]> {
  if (moves.length === 0) return [];
  const asked = new Map(moves.map(({ to }) => [to, dialect.askedAddress(to)]));
  const ours = await watched([...asked.values()]);
  return moves.filter(({ to }) => ours.has(asked.get(to) ?? to));
}

/** The transfers of each block, in the order of the blocks. @throws NodeError `inconsistent` if receipts and blocks differ */
export async function findTransfers(
  evm: EvmClient,
  blocks: readonly ReadBlock[],
  context: TransferContext,
): Promise<ChainTransfer[][]> {
  const { assets, dialect } = context;
  const moves = blocks.flatMap((read) => movesOf(read, assets));
  const hits = await oursAmong(moves, context);
  const receipts = await readReceipts(
    evm,
    hits.map(({ txHash, block }) => ({ hash: txHash, block })),
  );
  const transactions = hits.flatMap(({ transaction }) => transaction ?? []);
  const confirmed = await dialect.confirmNative?.(evm, transactions);
  return blocks.map(({ block, logs }) =>
    hits
      .filter((hit) => hit.block === block)
      .flatMap((move) => {
        const receipt = receipts.get(move.txHash);
        if (receipt?.blockHash !== block.hash) throw inconsistent(evm, block.height);
        if (!receipt.isSuccess) return [];
        if (!move.log && confirmed && !confirmed.has(move.txHash)) return [];
        const outputIndex = move.log ? logIndex(evm, block, receipt, move.log, logs) : coinIndex;
        return toTransfer(move, outputIndex, dialect);
      }),
  );
}

function movesOf({ block, logs }: ReadBlock, { coin, tokens }: Assets): FoundMove[] {
  const moves: FoundMove[] = [];
  for (const transaction of coin ? block.transactions : []) {
    const { hash: txHash, from, to, value: amount } = transaction;
    // A transfer to its own sender brings nothing.
    if (coin && to !== null && amount > 0n && from !== to) {
      moves.push({ asset: coin, txHash, from, to, amount, block, transaction });
    }
  }
  for (const log of logs) {
    const asset = tokens.get(log.address);
    const transfer = readTransferLog(log);
    if (!asset || !transfer || transfer.amount === 0n || transfer.from === transfer.to) continue;
    moves.push({ asset, txHash: log.transactionHash, ...transfer, block, log });
  }
  return moves;
}

/**
 * Receipts by the hash of their transaction. Some nodes have those of the chain's own transactions, such as coins that
 * come from another chain, only among the receipts of the block.
 * @throws NodeError if the node lacks one
 */
export async function readReceipts(
  evm: EvmClient,
  transactions: readonly { readonly hash: string; readonly block: EvmHeader }[],
): Promise<ReadonlyMap<string, EvmReceipt>> {
  const blocks = new Map(transactions.map(({ hash, block }) => [hash, block]));
  const hashes = [...blocks.keys()];
  const own = await evm.receipts(hashes);
  const found = new Map(own.flatMap((receipt, index) => (receipt ? [[hashes[index] ?? '', receipt]] : [])));
  const missing = new Set(hashes.filter((hash) => !found.has(hash)));
  for (const { height, hash } of new Set([...missing].flatMap((one) => blocks.get(one) ?? []))) {
    for (const receipt of (await evm.blockReceipts(height)) ?? []) {
      const { transactionHash, blockHash } = receipt;
      if (blockHash === hash && missing.has(transactionHash)) found.set(transactionHash, receipt);
    }
  }
  const lacking = hashes.find((hash) => !found.has(hash));
  if (lacking === undefined) return found;
  throw new NodeError(
    'inconsistent',
    `${evm.name} has the transaction ${lacking} in block ${blocks.get(lacking)?.height ?? ''}, but not its receipt`,
  );
}

/**
 * The `outputIndex` of a log: its place among the logs of its transaction, in the order in which that made them. It is
 * found by the log's content, because nodes number logs differently: some through the block, some through the
 * transaction, or not at all.
 * @param logs all of its kind in the block, in their order
 * @throws NodeError if the receipt of its transaction does not have as many like it
 */
export function logIndex(
  evm: EvmClient,
  block: EvmHeader,
  receipt: EvmReceipt,
  log: EvmLog,
  logs: readonly EvmLog[],
): number {
  const topics = log.topics.join();
  const isAlike = (other: EvmLog) =>
    other.transactionHash === log.transactionHash &&
    other.address === log.address &&
    other.data === log.data &&
    other.topics.join() === topics;
  const alike = logs.filter(isAlike);
  const places = receipt.logs.flatMap((other, place) => (isAlike(other) ? place : []));
  const place = places[alike.indexOf(log)];
  if (place === undefined || places.length !== alike.length) throw inconsistent(evm, block.height);
  return firstLogIndex + place;
}

/**
 * The coins that contracts sent to deposit addresses, on networks whose nodes report them. Elsewhere, and where a node does not,
 * the balance shows them: see reconciliation/.
 */
export async function findContractMoves(
  evm: EvmClient,
  { block }: ReadBlock,
  context: TransferContext,
): Promise<ChainTransfer[]> {
  const { dialect } = context;
  const { coin } = context.assets;
  if (!coin) return [];
  const moves = await oursAmong((await dialect.contractMoves?.(evm, block)) ?? [], context);
  return moves.map((move) => toTransfer({ ...move, asset: coin }, firstContractIndex + move.place, dialect));
}

/** The move as the scan reports it. */
export function toTransfer(
  { asset, txHash, from, to, amount }: Move,
  outputIndex: number,
  dialect: Dialect,
): ChainTransfer {
  return {
    txHash: dialect.writeHash(txHash),
    outputIndex,
    currency: asset.currency,
    senders: from === null ? [] : [dialect.writeAddress(from)],
    address: dialect.writeAddress(to),
    ...amountsOf(asset, amount),
  };
}

/** The node's answers about a block contradict each other: it was replaced meanwhile, or they come from different servers. */
export function inconsistent({ name }: EvmClient, height: number): NodeError {
  return new NodeError(
    'inconsistent',
    `${name} gave answers about block ${height} that do not fit each other`,
  );
}
