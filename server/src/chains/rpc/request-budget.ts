/** A budget of requests for the nodes of one network, for providers that charge for them: who is over it waits. */
import { setTimeout as delay } from 'node:timers/promises';

export interface RequestBudget {
  /** Resolves when this many requests may be sent. */
  take(count: number, signal: AbortSignal): Promise<void>;
  /** How many requests may be sent at once now. */
  left(): number;
}

/**
 * @param perMinute unused requests of a minute can be sent later, but never more than these at once
 * @param now epoch milliseconds
 */
export function createRequestBudget(perMinute: number, now: () => number): RequestBudget {
  const perMs = perMinute / 60_000;
  let tokens = perMinute;
  let countedAt = now();

  function refill(): void {
    const time = now();
    tokens = Math.min(perMinute, tokens + Math.max(0, time - countedAt) * perMs);
    countedAt = time;
  }

  return {
    async take(count, signal) {
      refill();
      // Below zero: whoever comes later waits for longer, so the order is kept.
      tokens -= count;
      if (tokens < 0) await delay(Math.ceil(-tokens / perMs), undefined, { signal });
    },
    left() {
      refill();
      return Math.max(0, Math.floor(tokens));
    },
  };
}
