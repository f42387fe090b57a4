/**
 * Keeps waiting transfers that the chain does not return as pending until the nodes have forgotten them. A node leaves a low fee out of
 * its next block, and a process that has just started, or a node that it has just moved to, may never have seen the transaction.
 */
import type { Chain, Forgotten, TransferId } from '../chains/chain.js';
import type { Difference } from '../chains/read-chain.js';
import type { Reader } from '../db/engine.js';
import { withKept } from './pending.js';
import type { PendingTransfers, ScanSink } from './scan.js';

/** Transactions that the nodes are asked about at once. Others wait for their turn, and are not dropped until then. */
const mostAsked = 200;
/** The nodes are asked again at this interval, as long as transfers are kept. */
const askIntervalMs = 10_000;
/** A node that is down for longer no longer keeps a transfer that the others have forgotten: payers replace transactions. */
const longestKeptMs = 10 * 60_000;

export function createKeepWaiting(
  chain: Chain,
  sink: Pick<ScanSink, 'missing'>,
  reader: Reader,
  realNow: () => number,
) {
  const { mode, network } = chain;
  let askNotBefore = 0;
  /** The last hash that was asked about. */
  let turn = '';
  /** The time since which some of the nodes have forgotten a transaction, and none has it. */
  let denied: ReadonlyMap<string, number> = new Map();

  /** The hashes of this turn, of those that may be lost. */
  function nextTurn(missing: readonly TransferId[]): readonly string[] {
    const all = [...new Set(missing.map(({ txHash }) => txHash))].sort();
    const start = Math.max(
      0,
      all.findIndex((hash) => hash > turn),
    );
    return [...all.slice(start), ...all.slice(0, start)].slice(0, mostAsked);
  }

  /** Those that all nodes have forgotten, or some for long enough. */
  async function findForgotten(
    missing: readonly TransferId[],
    height: number,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const asked = nextTurn(missing);
    const answers = (await chain.forgotten?.(asked, height, signal)) ?? new Map<string, Forgotten>();
    turn = [...answers.keys()].at(-1) ?? turn;
    const now = realNow();
    const since = new Map<string, number>();
    for (const { txHash } of missing) {
      const answer = answers.get(txHash);
      const before = denied.get(txHash);
      if (answer === 'by all' || answer === 'by some') since.set(txHash, before ?? now);
      else if (answer === undefined && before !== undefined) since.set(txHash, before);
    }
    denied = since;
    const isLong = (txHash: string) => now - (since.get(txHash) ?? now) >= longestKeptMs;
    const isForgotten = (txHash: string) => {
      const answer = answers.get(txHash);
      return answer === 'by all' || (answer === 'by some' && isLong(txHash));
    };
    return new Set(asked.filter(isForgotten));
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
    if (missing.length === 0) {
      denied = new Map();
      return pending;
    }
    if (!isUrgent && realNow() < askNotBefore) return withKept(pending, missing);
    askNotBefore = realNow() + askIntervalMs;
    const forgotten = await findForgotten(missing, head.height, signal);
    return withKept(
      pending,
      missing.filter(({ txHash }) => !forgotten.has(txHash)),
    );
  };
}
