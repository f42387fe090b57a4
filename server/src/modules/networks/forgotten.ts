/** Finds transactions that the nodes of a network have forgotten, for payments that a scan misses. */
import type { Forgotten } from '../../core/chains/chain.js';

/**
 * A node's answer about a transaction: it waits, or is in a block above those that were scanned; a block that was scanned has decided
 * about it; or the node does not know it. Undefined if the node cannot say.
 */
export type PendingAnswer = 'waits' | 'is over' | 'unknown' | undefined;

interface Nodes<C> {
  /** The requests that may be sent and leave half of the budget to the scan; undefined without one. */
  requestsSpare(): number | undefined;
  askAll<T>(work: (node: C) => Promise<T>, signal: AbortSignal): Promise<(T | undefined)[]>;
}

/** @param nodeCount those of the configuration @returns as `Chain.forgotten` */
export async function findForgotten<C>(
  nodes: Nodes<C>,
  nodeCount: number,
  txHashes: readonly string[],
  work: (node: C, asked: readonly string[]) => Promise<readonly PendingAnswer[]>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Forgotten>> {
  // Each node is asked for its height too.
  const most = Math.floor((nodes.requestsSpare() ?? Infinity) / nodeCount) - 2;
  const asked = txHashes.slice(0, Math.max(0, most));
  if (asked.length === 0) return new Map();
  const all = await nodes.askAll((node) => work(node, asked), signal);
  const answers = all.filter((answer) => answer !== undefined);
  if (answers.length === 0) return new Map();
  return new Map(
    asked.map((txHash, index) => {
      const reported = answers.map((answer) => answer[index]);
      if (reported.includes('waits')) return [txHash, 'by none'];
      const isByAll = reported.length === nodeCount && reported.every((one) => one === 'unknown');
      return [txHash, isByAll || reported.includes('is over') ? 'by all' : 'by some'];
    }),
  );
}
