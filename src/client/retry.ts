/** Retries calls that failed for a temporary reason. */
import { ApiError, NetworkError } from '../errors.js';

export interface RetryPolicy {
  /** Maximum number of retries of a failed call. */
  readonly retries: number;
  /** If the server asks for a longer wait than this, the error goes to the caller immediately. */
  readonly maxRetryAfterSeconds: number;
  /** Waits before a retry; `retried` counts the ones before it. An abort should end the wait. */
  readonly wait: (error: unknown, retried: number) => Promise<void>;
}

/**
 * Calls `attempt` until it succeeds. It must be safe to repeat (a read, or a change with an idempotency key), and must
 * throw the abort reason once the caller has aborted.
 *
 * @throws the last attempt's error
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  { retries, maxRetryAfterSeconds, wait }: RetryPolicy,
): Promise<T> {
  for (let retried = 0; ; retried += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isFinal = retried >= retries || retryAfterSecondsOf(error) > maxRetryAfterSeconds;
      if (isFinal || !isTransient(error)) throw error;
      await wait(error, retried);
    }
  }
}

/** The delay that the server asked for, in seconds; 0 if it did not. */
export function retryAfterSecondsOf(error: unknown): number {
  return error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
}

/** True if the same request may succeed when it is sent again. */
export function isTransient(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  if (!(error instanceof ApiError)) return false;
  return error.status >= 500 || error.status === 429 || error.code === 'idempotency_in_progress';
}
