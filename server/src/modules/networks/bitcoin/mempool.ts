/** The transactions to our addresses that wait for a block. Reads each transaction once, however long it waits. */
import type { ChainTransfer } from '../../../core/chains/chain.js';
import { isObject } from '../rpc/node-client.js';
import { NodeError } from '../rpc/node-error.js';
import { createSupport } from '../rpc/support.js';
import type { BitcoinClient } from './client.js';
import { groupBy } from '../../../core/shared/group-by.js';

/** Finds the transfers to our addresses in transactions as a node answers them. */
export type FindTransfers = (
  transactions: readonly unknown[],
  what: string,
  node: BitcoinClient,
) => Promise<readonly ChainTransfer[]>;

/** The number of transactions that are read before their payments to us are kept. */
const stepSize = 100;

/**
 * @returns a reader of mempools. If it fails, the transactions read until then are kept, so that the next call
 * continues
 */
export function createMempoolReader(findTransfers: FindTransfers, now: () => number) {
  /** Waiting transactions that were read. The outputs of a transaction never change, whichever node shows it. */
  let known = new Set<string>();
  const ours = new Map<string, readonly ChainTransfer[]>();
  /** Support for reading the mempool, by the node's name. */
  const supports = new Map<string, ReturnType<typeof createSupport>>();

  function supportOf({ name }: BitcoinClient): ReturnType<typeof createSupport> {
    const support = supports.get(name) ?? createSupport(now);
    supports.set(name, support);
    return support;
  }

  async function learn(node: BitcoinClient, txids: readonly string[]): Promise<void> {
    const answers = await node.transactions(txids);
    const waiting = new Map<string, unknown>();
    for (const [index, txid] of txids.entries()) {
      const answer = answers[index];
      // It left the mempool after the list was read. If it went into a block, the next scan finds it there.
      if (answer === undefined) continue;
      if (!isObject(answer) || answer['txid'] !== txid) throw node.unknownForm(`getrawtransaction ${txid}`);
      // A node with an index of transactions also finds those that have just gone into a block.
      if (typeof answer['blockhash'] !== 'string') waiting.set(txid, answer);
    }
    const transfers = await findTransfers([...waiting.values()], 'a waiting transaction', node);
    for (const txid of waiting.keys()) known.add(txid);
    for (const [txid, found] of groupBy(transfers, ({ txHash }) => txHash)) ours.set(txid, found);
  }

  /** Forgets transactions that have left the mempool, so that no more are kept than the node keeps. */
  function forget(listed: readonly string[]): void {
    const left = new Set(listed);
    for (const txid of ours.keys()) if (!left.has(txid)) ours.delete(txid);
    if (known.size === left.size) return;
    known = new Set(listed.filter((txid) => known.has(txid)));
  }

  /** Asks a node that shows no mempool about our known transactions: it can still report single ones. */
  async function askForOurs(node: BitcoinClient): Promise<void> {
    const txids = [...ours.keys()];
    const answers = await node.transactions(txids);
    for (const [index, txid] of txids.entries()) {
      const answer = answers[index];
      if (isObject(answer) && typeof answer['blockhash'] !== 'string') continue;
      ours.delete(txid);
      // Another node that shows it should be believed.
      known.delete(txid);
    }
  }

  return async (node: BitcoinClient, signal: AbortSignal) => {
    const shown = await supportOf(node)(() => node.mempool());
    if (shown.kind === 'failed') throw shown.failure ?? node.unknownForm('getrawmempool');
    if (shown.kind === 'unsupported') {
      await askForOurs(node);
      return { transfers: [...ours.values()].flat() };
    }
    const { isLoaded, txids, head } = shown.value;
    if (!isLoaded) throw new NodeError('behind', `${node.name} is still loading its mempool`);
    const fresh = txids.filter((txid) => !known.has(txid));
    for (let start = 0; start < fresh.length; start += stepSize) {
      signal.throwIfAborted();
      await learn(node, fresh.slice(start, start + stepSize));
    }
    forget(txids);
    /** To our addresses. Transactions that were replaced, or conflict with a block, are not among them. */
    return { transfers: [...ours.values()].flat(), head };
  };
}
