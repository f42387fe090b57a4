/** Handlers of `/sandbox`. Each replies once payments reflect the change. */
import type { sandbox as endpoints } from 'crypto-checkout/contract';
import { isoTime } from '../shared/clock.js';
import type { Handlers } from '../api/handler.js';
import type { SpendBudget } from './budget.js';
import type { Sandbox } from './sandbox.js';

/** The clock's calls scan every network; a call with many blocks writes and scans them all. */
const clockWork = 7;
const blocksPerWork = 20;

/** @param spend undefined if rate limits are off */
export function createSandboxHandlers(
  sandbox: Sandbox,
  spend: SpendBudget = () => undefined,
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
