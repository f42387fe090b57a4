/** Finds the transfers to deposit addresses in blocks that were read, and verifies each by its transaction's receipt. */
import { amountsOf, type ChainAsset } from '../assets.js';
import type { ChainTransfer } from '../chain.js';
import { NodeError } from '../../rpc/node-error.js';
import type { Assets } from './assets.js';
import type { EvmClient } from './client.js';
import type { Dialect } from './dialect.js';
import type { EvmBlock, EvmHeader, EvmLog, EvmReceipt } from './replies.js';
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
/** The first index of what the contracts of a transaction sent, on networks whose nodes report it. */
export const firstContractIndex = 2_000_000;

/** What could be a transfer of ours. Hashes and addresses are as nodes write them. */
export interface Move {
  readonly asset: ChainAsset;
  readonly txHash: string;
  readonly from: string | null;
  readonly to: string;
  readonly amount: bigint;
}

interface FoundMove extends Move {
  /** Undefined if the transaction itself sends the coin. */
  readonly log: EvmLog | undefined;
}

/** The transfers of each block, in the order of the blocks. @throws NodeError `inconsistent` if receipts and blocks differ */
export async function findTransfers(
  evm: EvmClient,
  blocks: readonly ReadBlock[],
  context: TransferContext,
): Promise<ChainTransfer[][]> {
  const { assets, dialect } = context;
  const moves = blocks.map((read) => movesOf(read, assets));
  const asked = new Map(moves.flat().map(({ to }) => [to, dialect.askedAddress(to)]));
  const ours = asked.size === 0 ? new Set<string>() : await context.watched([...asked.values()]);
  const hits = moves.map((list) => list.filter(({ to }) => ours.has(asked.get(to) ?? to)));
  if (hits.every((list) => list.length === 0)) return hits.map(() => []);

  const receipts = await readReceipts(
    evm,
    hits.flat().map(({ txHash }) => txHash),
  );
  const confirmed = await confirmNative(evm, blocks, hits, dialect);
  return blocks.map(({ block }, index) => {
    return (hits[index] ?? []).flatMap((move) => {
      const receipt = receipts.get(move.txHash);
      if (receipt?.blockHash !== block.hash) throw inconsistent(evm, block.height);
      if (!receipt.isSuccess) return [];
      if (!move.log && confirmed && !confirmed.has(move.txHash)) return [];
      const outputIndex = move.log ? logIndex(evm, block, receipt, move.log) : coinIndex;
      return toTransfer(move, outputIndex, dialect);
    });
  });
}

function movesOf({ block, logs }: ReadBlock, { coin, tokens }: Assets): FoundMove[] {
  const moves: FoundMove[] = [];
  for (const { hash: txHash, from, to, value: amount } of coin ? block.transactions : []) {
    // Who sends to themselves receives nothing.
    if (coin && to !== null && amount > 0n && from !== to) {
      moves.push({ asset: coin, txHash, from, to, amount, log: undefined });
    }
  }
  for (const log of logs) {
    const asset = tokens.get(log.address);
    const transfer = readTransferLog(log);
    if (!asset || !transfer || transfer.amount === 0n || transfer.from === transfer.to) continue;
    moves.push({ asset, txHash: log.transactionHash, log, ...transfer });
  }
  return moves;
}

/** Receipts by the hash of their transaction. @throws NodeError if the node lacks one */
export async function readReceipts(
  evm: EvmClient,
  txHashes: readonly string[],
): Promise<ReadonlyMap<string, EvmReceipt>> {
  const hashes = [...new Set(txHashes)];
  const receipts = await evm.receipts(hashes);
  return new Map(
    receipts.map((receipt, index) => {
      if (receipt) return [hashes[index] ?? '', receipt];
      throw new NodeError('inconsistent', `${evm.name} has a transaction, but not its receipt`);
    }),
  );
}

async function confirmNative(
  evm: EvmClient,
  blocks: readonly ReadBlock[],
  hits: readonly (readonly FoundMove[])[],
  dialect: Dialect,
): Promise<ReadonlySet<string> | undefined> {
  if (!dialect.confirmNative) return undefined;
  const hashes = new Set(
    hits
      .flat()
      .filter(({ log }) => !log)
      .map(({ txHash }) => txHash),
  );
  if (hashes.size === 0) return new Set();
  const transactions = blocks.flatMap(({ block }) =>
    block.transactions.filter(({ hash }) => hashes.has(hash)),
  );
  return dialect.confirmNative(evm, transactions);
}

/** The `outputIndex` of a log. @throws NodeError if the receipt of its transaction does not have it */
export function logIndex(evm: EvmClient, block: EvmHeader, receipt: EvmReceipt, log: EvmLog): number {
  const ordered = [...receipt.logs].sort((a, b) => a.logIndex - b.logIndex);
  const place = ordered.findIndex((candidate) => candidate.logIndex === log.logIndex);
  const found = ordered[place];
  const isSame =
    found?.address === log.address && found.data === log.data && found.topics.join() === log.topics.join();
  if (!isSame) throw inconsistent(evm, block.height);
  return firstLogIndex + place;
}

/**
 * The coins that contracts sent to deposit addresses, on networks whose nodes report them. Elsewhere, and where a node does not,
 * the balance shows them: see reconciliation/.
 */
export async function findContractMoves(
  evm: EvmClient,
  { block }: ReadBlock,
  { assets: { coin }, dialect, watched }: TransferContext,
): Promise<ChainTransfer[]> {
  const moves = (coin && (await dialect.contractMoves?.(evm, block))) ?? [];
  if (!coin || moves.length === 0) return [];
  const ours = await watched([...new Set(moves.map(({ to }) => dialect.askedAddress(to)))]);
  return moves
    .filter(({ to }) => ours.has(dialect.askedAddress(to)))
    .map((move) => toTransfer({ ...move, asset: coin }, firstContractIndex + move.place, dialect));
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
