/**
 * The possible failures of a request to a node. Messages name the node by its place in the configuration, never by
 * its URL.
 */

export type NodeFault =
  | 'unreachable' // No connection, or it broke.
  | 'timeout' // No complete answer in time.
  | 'refused' // An HTTP status other than 2xx.
  | 'limited' // Too many requests; nothing is sent before the time that the node names.
  | 'too-large' // The node does not take that many calls at once, or answers with too much.
  | 'garbage' // The answer is not what was asked for.
  | 'wrong-network' // The node is on another chain.
  | 'behind' // The node has not read the newest blocks yet.
  | 'inconsistent'; // Answers about one block do not fit each other.

/** A node cannot be used, or not now. Another node may answer. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  readonly fault: NodeFault;
  /** The pause that the node asked for; undefined if it named no time. */
  readonly retryAfterMs: number | undefined;
  /** When a request with fewer calls may be answered: at once, or at the next attempt; undefined if their number is no reason. */
  readonly fewer: 'now' | 'later' | undefined;

  constructor(
    fault: NodeFault,
    message: string,
    more: Partial<Pick<NodeError, 'retryAfterMs' | 'fewer'>> = {},
  ) {
    super(message);
    this.fault = fault;
    this.retryAfterMs = more.retryAfterMs;
    this.fewer = more.fewer;
  }
}

/** The node understood the call, and answered with a JSON-RPC error. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  readonly fault = 'failure';
  /** The JSON-RPC error code, such as -32000. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The result of a call, or a value made from the node's error. @param handle throws errors that mean nothing to it */
export async function ifRefused<T, R>(
  answer: Promise<T>,
  handle: (failure: RpcFailure) => R,
): Promise<T | R> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RpcFailure) return handle(error);
    throw error;
  }
}

/**
 * The result of a call; undefined if the node refuses it, for calls that not every node offers or knows. @param code
 * of the only refusal that counts
 */
export const unlessRefused = <T>(answer: Promise<T>, code?: number): Promise<T | undefined> =>
  ifRefused(answer, (failure) => {
    if (code === undefined || failure.code === code) return undefined;
    throw failure;
  });

/** True if an error is about a node, so that another one may be tried. */
export function isNodeFailure(error: unknown): error is NodeError | RpcFailure {
  return error instanceof NodeError || error instanceof RpcFailure;
}

/** No node of a network can be used now. The message has one sentence per node. */
export class NodesUnavailable extends Error {
  override readonly name = 'NodesUnavailable';
  /** The last failure of each node, in the order of the configuration. */
  readonly errors: readonly (NodeError | RpcFailure)[];

  constructor(message: string, errors: readonly (NodeError | RpcFailure)[]) {
    super(message);
    this.errors = errors;
  }

  /** True if a node failed in this way. */
  isAny(fault: NodeFault): boolean {
    return this.errors.some((error) => error.fault === fault);
  }
}
