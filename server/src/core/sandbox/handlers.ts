/** Handlers of `/sandbox`. Each replies once payments reflect the change. */
import type { sandbox as endpoints } from 'crypto-checkout/contract';
import { isoTime } from '../shared/clock.js';
import { Problem } from '../shared/problem.js';
import type { Handlers } from '../api/handler.js';
import type { Sandbox } from './sandbox.js';

/** The clock's calls scan every network; a call with many blocks writes and scans them all. */
const clockWork = 7;
const blocksPerWork = 20;

/** @param spend undefined if rate limits are off */
export function createSandboxHandlers(
  sandbox: Sandbox,
  spend: ReturnType<typeof createBudget> = () => undefined,
): Handlers<{ sandbox: typeof endpoints }>['sandbox'] {
  return {
    async transfer({ body }, { caller, change }) {
      spend(caller.merchantId, 1);
      const reply = await change(async (transaction) => ({
        txHash: await sandbox.transfer(transaction, caller.merchantId, body),
      }));
      await sandbox.syncNetwork(body.network);
      return reply;
    },

    async mine({ body }, { caller, change }) {
      spend(caller.merchantId, 1 + body.count / blocksPerWork);
      const reply = await change((transaction) => sandbox.mine(transaction, body.network, body.count));
      await sandbox.syncNetwork(body.network);
      return reply;
    },

    async reorg({ body }, { caller, change }) {
      spend(caller.merchantId, 1 + body.depth / blocksPerWork);
      const reply = await change((transaction) => sandbox.reorg(transaction, caller.merchantId, body));
      await sandbox.syncNetwork(body.network);
      return reply;
    },

    async advanceClock({ body }, { caller, change }) {
      spend(caller.merchantId, body.advanceSeconds === 0 ? 1 : clockWork);
      const reply = await change(async (transaction) => ({
        now: isoTime(await sandbox.advanceClock(transaction, caller.merchantId, body.advanceSeconds)),
      }));
      await sandbox.syncClock();
      return reply;
    },
  };
}

/** Bursts may be this many seconds' worth of work. */
const burstSeconds = 10;

/**
 * A merchant's budget in the sandbox, so that a flood of sandbox calls leaves the server to live requests: a token
 * bucket per merchant, kept in this process. One unit of work is a call that changes one network.
 */
export function createBudget(workPerSecond: number) {
  const buckets = new Map<string, { readonly left: number; readonly at: number }>();
  const size = workPerSecond * burstSeconds;
  /** Counts the work of a call. Problem: `rate_limited`. */
  return (merchantId: string, work: number): void => {
    const at = performance.now();
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
