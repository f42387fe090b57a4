/** How much a merchant may do in the sandbox, so that a flood of sandbox calls leaves the server to live requests. */
import { Problem } from '../shared/problem.js';

/** Counts the work of a call. Problem: `rate_limited`. */
export type SpendBudget = (merchantId: string, work: number) => void;

/** Bursts may be this many seconds' worth of work. */
const burstSeconds = 10;

interface Bucket {
  left: number;
  at: number;
}

/**
 * A token bucket per merchant, kept in this process. One unit of work is a call that changes one network.
 * @param now a monotonic clock, in milliseconds
 */
export function createBudget(workPerSecond: number, now = () => performance.now()): SpendBudget {
  const buckets = new Map<string, Bucket>();
  const size = workPerSecond * burstSeconds;
  return (merchantId, work) => {
    const at = now();
    const bucket = buckets.get(merchantId) ?? { left: size, at };
    const left = Math.min(size, bucket.left + ((at - bucket.at) / 1000) * workPerSecond);
    if (left < work) {
      buckets.set(merchantId, { left, at });
      const retryAfterSeconds = Math.max(1, Math.ceil((work - left) / workPerSecond));
      throw new Problem(
        'rate_limited',
        `Too many sandbox calls: a merchant's limit is ${workPerSecond} a second. Try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      );
    }
    buckets.set(merchantId, { left: left - work, at });
  };
}
