/**
 * Remembers calls that single nodes do not offer, so that they are not asked for them each time. A passing error does
 * not count: only a method that a node does not have is off for long, and a call that never worked is asked for again
 * soon at first, and then less and less often.
 */
import { RpcFailure } from './node-error.js';

/** `failed`: the node offers it, and cannot answer now. Its last answer is still the known one. */
export type Support<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'failed'; readonly failure: RpcFailure | undefined }
  | { readonly kind: 'unsupported' };

export const methodNotFound = -32601;
const firstRetryMs = 10_000;
/** A node may have been updated. */
const longestRetryMs = 600_000;

/** Asks one node for one thing that not every node offers. @param now epoch milliseconds */
export function createSupport(now: () => number) {
  let hasWorked = false;
  /** Refusals in a row before it ever worked. */
  let refusals = 0;
  let notBefore = 0;

  function refuse(failure?: RpcFailure): Exclude<Support<never>, { readonly kind: 'value' }> {
    const isMissing = failure?.code === methodNotFound;
    if (hasWorked && !isMissing) return { kind: 'failed', failure };
    notBefore = now() + (isMissing ? longestRetryMs : Math.min(firstRetryMs * 2 ** refusals, longestRetryMs));
    refusals += 1;
    return { kind: 'unsupported' };
  }

  /**
   * Asks the node, unless it does not offer this.
   * @param question answers undefined if the node has nothing to say
   * @throws NodeError
   */
  return async <T>(question: () => Promise<T | undefined>): Promise<Support<T>> => {
    if (notBefore > now()) return { kind: 'unsupported' };
    try {
      const value = await question();
      if (value === undefined) return refuse();
      hasWorked = true;
      refusals = 0;
      return { kind: 'value', value };
    } catch (error) {
      if (error instanceof RpcFailure) return refuse(error);
      throw error;
    }
  };
}
