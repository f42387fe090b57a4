/** Waits between requests: repeats what may be repeated, obeys `Retry-After`, and rests while nobody looks. */
import { isTransient } from './errors.js';
import { pollDelay, retryAfterOf } from './polling.js';

const triesOfOneStep = 3;
const longestWaitSeconds = 10;

export class Pacer {
  /** Failed questions in a row. */
  failures = 0;
  /** By `performance.now()`: until when the server asked to be left alone. */
  #notBefore = 0;
  readonly #sleepers = new Set<() => void>();

  get mayAsk(): boolean {
    return performance.now() >= this.#notBefore;
  }

  succeed(): void {
    this.failures = 0;
  }

  fail(error: unknown): void {
    this.failures += 1;
    this.#obey(error);
  }

  /** Ends every wait at once, as far as the server allows: page or connection is back. */
  readonly wake = (): void => {
    if (!document.hidden && this.mayAsk) this.#sleepers.forEach((end) => end());
  };

  /** The wait before the next question of a poll. @param elapsedMs since the payment last changed */
  rest(elapsedMs: number, signal: AbortSignal): Promise<void> {
    return this.#sleep(this.#delay(elapsedMs, this.failures), signal);
  }

  /** Makes a call that may be repeated without harm, a few times if need be. */
  async persist<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await call();
      } catch (error) {
        const isHopeless = tries === triesOfOneStep || (retryAfterOf(error) ?? 0) > longestWaitSeconds;
        if (signal.aborted || isHopeless || !isTransient(error)) throw error;
        this.#obey(error);
        await this.#sleep(this.#delay(0, tries - 1), signal);
      }
    }
  }

  #obey(error: unknown): void {
    this.#notBefore = performance.now() + (retryAfterOf(error) ?? 0) * 1000;
  }

  #delay(elapsedMs: number, failures: number): number {
    const retryAfterSeconds = Math.max(0, this.#notBefore - performance.now()) / 1000;
    return pollDelay({ elapsedMs, failures, retryAfterSeconds, random: Math.random() });
  }

  /** A hidden page sleeps on until it is seen again; an abort ends the sleep. */
  #sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.#sleepers.delete(end);
        resolve();
      };
      const timer = setTimeout(() => document.hidden || end(), delayMs);
      if (signal.aborted) end();
      signal.addEventListener('abort', end);
      this.#sleepers.add(end);
    });
  }
}
