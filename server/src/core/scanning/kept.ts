/**
 * Keeps waiting transfers that the chain does not return as pending until no node has them any more. A node leaves a low fee out of
 * its next block, and a process that has just started, or a node that it has just moved to, may never have seen the transaction.
 */
import type { Chain, TransferId } from '../chains/chain.js';
import type { Difference } from '../chains/read-chain.js';
import { NodesUnavailable } from '../chains/nodes-unavailable.js';
import type { Reader } from '../db/engine.js';
import { withKept } from './pending.js';
import type { PendingTransfers, ScanSink } from './scan.js';

/** Transactions that the nodes are asked about at once. Others wait for their turn, and are not dropped until then. */
const mostAsked = 200;
/** The nodes are asked again at this interval, as long as transfers are kept. */
const askIntervalMs = 10_000;
/** A node that stalls must not cost the scan its lease. */
const longestAskMs = 3000;

export function createKeepWaiting(
  chain: Chain,
  sink: Pick<ScanSink, 'missing'>,
  reader: Reader,
  realNow: () => number,
) {
  const { mode, network } = chain;
  let askNotBefore = 0;
  /** The last hash of the last turn. */
  let turn = '';

  /** The hashes of this turn, of those that may be lost. */
  function nextTurn(missing: readonly TransferId[]): readonly string[] {
    const all = [...new Set(missing.map(({ txHash }) => txHash))].sort();
    const start = Math.max(
      0,
      all.findIndex((hash) => hash > turn),
    );
    const asked = [...all.slice(start), ...all.slice(0, start)].slice(0, mostAsked);
    turn = asked.at(-1) ?? '';
    return asked;
  }

  /** Those that all nodes have forgotten; none if they do not answer soon. */
  async function findForgotten(hashes: readonly string[], height: number, signal: AbortSignal) {
    signal.throwIfAborted();
    const asking = new AbortController();
    const stop = () => asking.abort();
    signal.addEventListener('abort', stop);
    const timer = setTimeout(stop, longestAskMs);
    try {
      return await chain.forgotten?.(hashes, height, asking.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (asking.signal.aborted || error instanceof NodesUnavailable) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  /** @param isUrgent asks at once @returns the pending transfers, with those that must not be dropped yet */
  return async (
    {
      orphanedAbove,
      blocks,
      head,
      pending,
    }: Pick<Difference, 'orphanedAbove' | 'blocks' | 'head'> & { readonly pending: PendingTransfers },
    isUrgent: boolean,
    signal: AbortSignal,
  ): Promise<PendingTransfers> => {
    if (!chain.forgotten || !sink.missing) return pending;
    const missing = await sink.missing(reader, { mode, network, orphanedAbove, blocks, pending });
    if (missing.length === 0) return pending;
    if (!isUrgent && realNow() < askNotBefore) return withKept(pending, missing);
    askNotBefore = realNow() + askIntervalMs;
    const forgotten = await findForgotten(nextTurn(missing), head.height, signal);
    return withKept(
      pending,
      missing.filter(({ txHash }) => !forgotten?.has(txHash)),
    );
  };
}
