/** A budget of requests for the nodes of one network, for providers that charge for them: who is over it waits. */
import { setTimeout as delay } from 'node:timers/promises';

export type RequestBudget = ReturnType<typeof createRequestBudget>;

/**
 * @param perMinute unused requests of a minute can be sent later, but never more than these at once
 * @param now epoch milliseconds
 */
export function createRequestBudget(perMinute: number, now: () => number) {
  const perMs = perMinute / 60_000;
  let tokens = perMinute;
  let countedAt = now();

  function refill(): void {
    const time = now();
    tokens = Math.min(perMinute, tokens + Math.max(0, time - countedAt) * perMs);
    countedAt = time;
  }

  return {
    /** Resolves when this many requests may be sent. */
    async take(count: number, signal: AbortSignal): Promise<void> {
      refill();
      // Below zero: later callers wait for longer, so the order is kept.
      tokens -= count;
      if (tokens >= 0) return;
      try {
        await delay(Math.ceil(-tokens / perMs), undefined, { signal });
      } catch (error) {
        // They are not sent.
        tokens += count;
        throw error;
      }
    },
    /** The number of requests that may be sent at once now. */
    left(): number {
      refill();
      return Math.max(0, Math.floor(tokens));
    },
    /** Of them, the number that leaves half of the budget to callers who cannot wait. */
    spare(): number {
      return Math.max(0, this.left() - Math.ceil(perMinute / 2));
    },
  };
}
