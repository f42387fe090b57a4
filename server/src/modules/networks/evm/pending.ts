/** Follows the transfers to deposit addresses that are not in a block yet. */
import type { ChainHead, ChainTransfer } from '../../../core/chains/chain.js';
import type { EvmClient } from './client.js';
import { unlessRefused } from '../rpc/node-error.js';
import type { EvmTransaction } from './replies.js';
import { readTransferCall } from './token.js';
import {
  coinIndex,
  firstLogIndex,
  oursAmong,
  toTransfer,
  type Move,
  type TransferContext,
} from './transfers.js';

/** @returns a function that reads them, up to the head that blocks were read up to, with its hash as the node writes it */
export function createPendingReader(context: TransferContext, hasOpen: () => Promise<boolean>) {
  /** By the transaction's hash as the node writes it. */
  let known = new Map<string, readonly ChainTransfer[]>();

  async function readBlock(evm: EvmClient, head: ChainHead) {
    if (!(await hasOpen())) return {};
    const [answer, latest] = await Promise.all([evm.pendingBlock(), unlessRefused(evm.head())]);
    if (answer.kind !== 'value') return { latest };
    // Some nodes answer with their newest block. Its transactions are not pending.
    const { parentHash, transactions } = answer.value;
    return { latest, transactions: parentHash === head.hash ? transactions : undefined };
  }

  return async (evm: EvmClient, head: ChainHead) => {
    const { latest, transactions = [] } = await readBlock(evm, head);
    const moves = transactions.flatMap((transaction) => expectedMove(transaction, context) ?? []);
    const ours = await oursAmong(moves, context);
    const found = new Map(
      ours.map((move) => [move.txHash, [toTransfer(move, move.outputIndex, context.dialect)]]),
    );
    // A node leaves transactions out of its next block that it still knows, for example if it is full. An error is no answer.
    const missing = [...known.keys()].filter((hash) => !found.has(hash));
    const arePending = await Promise.all(missing.map((hash) => evm.isPending(hash)));
    const waiting = missing.filter((_, index) => arePending[index] !== false);
    known = new Map([...found, ...waiting.map((hash) => [hash, known.get(hash) ?? []] as const)]);
    /** `latest`: the newest header, from the same request as the transactions; undefined if it was not asked for. */
    return { transfers: [...known.values()].flat(), latest };
  };
}

/** The expected transfer of a pending transaction if it succeeds: the coin, or a token that is called directly. */
function expectedMove(
  { hash: txHash, from, to, value: amount, input }: EvmTransaction,
  { assets: { coin, tokens } }: TransferContext,
): (Move & { readonly outputIndex: number }) | undefined {
  if (to === null || from === to) return undefined;
  const token = tokens.get(to);
  const call = token && readTransferCall(input);
  if (token && call && call.amount > 0n && call.to !== from) {
    return { asset: token, txHash, from, ...call, outputIndex: firstLogIndex };
  }
  if (!coin || amount === 0n) return undefined;
  return { asset: coin, txHash, from, to, amount, outputIndex: coinIndex };
}
