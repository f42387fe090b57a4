/** Follows the transfers to deposit addresses that are not in a block yet. */
import type { ChainHead, ChainTransfer } from '../chain.js';
import type { NodeClient } from '../rpc/node-client.js';
import { RpcFailure } from '../rpc/node-error.js';
import { isObject } from '../rpc/node-client.js';
import { toUnits } from './assets.js';
import type { EvmAsset, EvmDeps } from './config.js';
import { parsePendingBlock, type EvmTransaction } from './replies.js';
import { readTransferCall } from './token.js';
import { firstLogIndex, nativeIndex, type TransferContext } from './transfers.js';

export interface PendingReader {
  /** @param head the head that blocks were read up to, with its hash as the node writes it */
  read(node: NodeClient, head: ChainHead, signal: AbortSignal): Promise<PendingTransfers>;
}

export interface PendingTransfers {
  readonly transfers: readonly ChainTransfer[];
  /** The newest block's header, from the same request as the pending transactions; undefined if it was not asked for. */
  readonly latest: unknown;
}

/** A node that does not tell pending transactions is asked again after this time: it may have been updated. */
const retryMs = 600_000;

export function createPendingReader(
  context: TransferContext,
  hasOpen: EvmDeps['hasOpen'],
  now: () => number,
): PendingReader {
  /** By the transaction's hash as the node writes it. */
  let known = new Map<string, readonly ChainTransfer[]>();
  /** When a node may be asked again, by its name. */
  const notBefore = new Map<string, number>();

  async function readBlock(node: NodeClient, head: ChainHead, signal: AbortSignal) {
    if ((notBefore.get(node.name) ?? 0) > now()) return {};
    if (hasOpen && !(await hasOpen())) return {};
    const [answer, latest] = await node.batch(
      [
        { method: 'eth_getBlockByNumber', params: ['pending', true] },
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
      ],
      signal,
    );
    if (answer instanceof RpcFailure || answer === null) {
      notBefore.set(node.name, now() + retryMs);
      return { latest };
    }
    const block = parsePendingBlock(answer);
    // Some nodes answer with their newest block. Its transactions are not pending.
    const isNext = block.height === head.height + 1 && block.parentHash === head.hash;
    return { latest, transactions: isNext ? block.transactions : undefined };
  }

  async function find(
    transactions: readonly EvmTransaction[],
  ): Promise<Map<string, readonly ChainTransfer[]>> {
    const { dialect } = context;
    const expected = transactions.flatMap((transaction) => {
      const move = expectedMove(transaction, context);
      return move ? { transaction, move, asked: dialect.askedAddress(move.to) } : [];
    });
    if (expected.length === 0) return new Map();
    const ours = await context.watched([...new Set(expected.map(({ asked }) => asked))]);
    return new Map(
      expected
        .filter(({ asked }) => ours.has(asked))
        .map(({ transaction: { hash, from }, move: { to, amount, asset, outputIndex } }) => [
          hash,
          [
            {
              txHash: dialect.writeHash(hash),
              outputIndex,
              currency: asset.currency,
              senders: from === null ? [] : [dialect.writeAddress(from)],
              address: dialect.writeAddress(to),
              amount: toUnits(amount, asset),
            },
          ],
        ]),
    );
  }

  return {
    async read(node, head, signal) {
      const { latest, transactions = [] } = await readBlock(node, head, signal);
      const found = await find(transactions);
      // A node leaves transactions out of its next block that it still knows, for example if it is full.
      const missing = [...known.keys()].filter((hash) => !found.has(hash));
      const answers = await node.batch(
        missing.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] })),
        signal,
      );
      const waiting = missing.filter((_, index) => {
        const answer = answers[index];
        return isObject(answer) && (answer['blockHash'] === null || answer['blockHash'] === undefined);
      });
      known = new Map([...found, ...waiting.map((hash) => [hash, known.get(hash) ?? []] as const)]);
      return { transfers: [...known.values()].flat(), latest };
    },
  };
}

interface ExpectedMove {
  readonly to: string;
  readonly amount: bigint;
  readonly asset: EvmAsset;
  readonly outputIndex: number;
}

/** What a pending transaction will transfer if it succeeds: the native coin, or a token that is called directly. */
function expectedMove(
  { from, to, value, input }: EvmTransaction,
  { assets }: TransferContext,
): ExpectedMove | undefined {
  if (to === null || from === to) return undefined;
  const token = assets.tokens.get(to);
  const call = token && readTransferCall(input);
  if (token && call && call.amount > 0n && call.to !== from) {
    return { ...call, asset: token, outputIndex: firstLogIndex };
  }
  if (!assets.native || value === 0n) return undefined;
  return { to, amount: value, asset: assets.native, outputIndex: nativeIndex };
}
