/**
 * The possible failures of a request to a node. Messages name the node by its place in the configuration, never by
 * its URL.
 */

import type { NodeFault } from '../../../core/chains/nodes-unavailable.js';

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
