/** Decides when to call the server: polls, retries, and waits while the page is hidden. */
import { retry, retryAfterSecondsOf } from '../client/retry.js';

const fastIntervalMs = 2_000;
const fastPhaseMs = 60_000;
const slowIntervalMs = 10_000;
const maxBackoffMs = 30_000;

export class Poller {
  /** Failed polls in a row. */
  #failures = 0;
  /** When the server allows the next call, by `performance.now()`. */
  #notBefore = 0;
  readonly #wakeCalls = new Set<() => void>();

  get mayPoll(): boolean {
    return performance.now() >= this.#notBefore;
  }

  recordSuccess(): void {
    this.#failures = 0;
  }

  recordFailure(error: unknown): void {
    this.#failures += 1;
    this.respectRetryAfter(error);
  }

  /** Holds back further calls for as long as the error's `Retry-After` asks. */
  respectRetryAfter(error: unknown): void {
    this.#notBefore = Math.max(this.#notBefore, performance.now() + retryAfterSecondsOf(error) * 1000);
  }

  /** Ends all waits, unless the server asked for them: the page is visible or online again. */
  readonly wake = (): void => {
    if (!document.hidden && this.mayPoll) this.#wakeCalls.forEach((wake) => wake());
  };

  /**
   * Waits until the next poll is due.
   * @param elapsedMs since the payment last changed
   * @param shortestMs wait at least this long
   */
  wait(elapsedMs: number, signal: AbortSignal, shortestMs = 0): Promise<void> {
    return this.#sleep(elapsedMs, this.#failures, signal, shortestMs);
  }

  /**
   * Makes a call that is safe to repeat, with up to two retries.
   * @param onLost called before each retry; with it, the call is retried for as long as its failures are temporary, and the server
   *   asks for no longer wait than five minutes
   */
  retry<T>(
    call: () => Promise<T>,
    signal: AbortSignal,
    onLost?: (error: unknown, retried: number) => void,
  ): Promise<T> {
    const wait = (error: unknown, retried: number) => {
      onLost?.(error, retried);
      this.respectRetryAfter(error);
      return this.#sleep(0, retried, signal);
    };
    const [retries, maxRetryAfterSeconds] = onLost ? [Infinity, 300] : [2, 10];
    return retry(call, { retries, maxRetryAfterSeconds, wait });
  }

  /** On a hidden page, keeps sleeping until the page is visible again. An abort ends the sleep. */
  #sleep(elapsedMs: number, failures: number, signal: AbortSignal, shortestMs = 0): Promise<void> {
    const retryAfterMs = Math.max(shortestMs, this.#notBefore - performance.now());
    const delayMs = Math.max(retryAfterMs, pollDelayMs({ elapsedMs, failures, random: Math.random() }));
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.#wakeCalls.delete(end);
        resolve();
      };
      const tick = () => {
        // A page that comes back too early for the server keeps waiting. A timer may also end slightly too early.
        const restMs = document.hidden ? fastIntervalMs : Math.ceil(this.#notBefore - performance.now());
        if (restMs > 0) timer = setTimeout(tick, restMs);
        else end();
      };
      let timer = setTimeout(tick, delayMs);
      if (signal.aborted) return end();
      signal.addEventListener('abort', end);
      this.#wakeCalls.add(end);
    });
  }
}

interface PollProgress {
  /** Since the payment last changed. */
  readonly elapsedMs: number;
  /** Failed polls in a row. */
  readonly failures: number;
  /** From 0 to 1. Spreads the polls of many pages over time. */
  readonly random: number;
}

/** The delay before the next poll: 2 s in the first minute, then slower, up to 10 s. Failures double it, up to 30 s. */
export function pollDelayMs({ elapsedMs, failures, random }: PollProgress): number {
  const intervalMs = Math.min(slowIntervalMs, fastIntervalMs + Math.max(0, elapsedMs - fastPhaseMs) / 30);
  const backoffMs = failures === 0 ? 0 : Math.min(maxBackoffMs, fastIntervalMs * 2 ** failures);
  return Math.max(intervalMs, backoffMs) * (0.9 + random * 0.2);
}
