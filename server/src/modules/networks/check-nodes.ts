/** Checks the nodes of a network one after the other, for `networks check`. */
import type { NetworkFinding } from '../../core/chains/connected.js';
import type { NodeClient } from './rpc/node-client.js';
import { isNodeFailure } from './rpc/node-error.js';

/** A finding about one node. */
export type Finding = Omit<NetworkFinding, 'subject'>;

export const ok = (text: string): Finding => ({ kind: 'ok', text });
export const warning = (text: string): Finding => ({ kind: 'warning', text });
export const problem = (text: string): Finding => ({ kind: 'problem', text });

/**
 * Yields each finding when it is known, for a command that shows progress. Never throws because of a node, only if the signal
 * aborts.
 */
export async function* checkNodes(
  nodes: readonly NodeClient[],
  check: (node: NodeClient) => AsyncIterable<Finding>,
  signal: AbortSignal,
): AsyncIterable<NetworkFinding> {
  for (const node of nodes) {
    const subject = node.name;
    try {
      for await (const finding of check(node)) yield { subject, ...finding };
    } catch (error) {
      signal.throwIfAborted();
      if (!isNodeFailure(error)) throw error;
      yield { subject, ...problem(error.message.replace(new RegExp(`^${subject}`), 'It')) };
    }
  }
}
