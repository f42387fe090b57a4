/** Tries a call again that failed for a passing reason: a few times, ever less often, never against an abort. */
import { ApiError, isTransient } from '../errors.js';

export interface RetryOptions {
  /** How often a call that failed is tried again; 3 when absent, 0 for never. */
  readonly retries?: number | undefined;
  /** The wait before the first retry, doubled for each further one up to 8 seconds; 500 when absent. */
  readonly retryDelayMs?: number | undefined;
}

const longestDelayMs = 8_000;
/** Whoever is asked to wait longer than this knows better than the client what to do in the meantime. */
const longestRetryAfterSeconds = 30;

/**
 * Runs `attempt` until it succeeds. It must be safe to repeat: a read, or a change with an idempotency key.
 * Waits are jittered by half, so that many clients do not come back in step, and never shorter than `Retry-After`.
 *
 * @throws what the last try threw, or the signal's reason
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retries = 3, retryDelayMs = 500 }: RetryOptions,
  signal?: AbortSignal,
): Promise<T> {
  for (let retried = 0; ; retried += 1) {
    try {
      return await attempt();
    } catch (error) {
      const retryAfterSeconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
      const isHopeless = !isTransient(error) || retryAfterSeconds > longestRetryAfterSeconds;
      if (isHopeless || retried >= retries || signal?.aborted) throw error;
      const delayMs = Math.min(longestDelayMs, retryDelayMs * 2 ** retried) * (0.5 + Math.random() / 2);
      await wait(Math.max(delayMs, retryAfterSeconds * 1000), signal);
    }
  }
}

/** @throws the signal's reason, as soon as it is aborted */
async function wait(delayMs: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    signal?.addEventListener('abort', end);
  });
  signal?.throwIfAborted();
}
