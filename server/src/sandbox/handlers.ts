/** Handlers of `/sandbox`. Each replies once payments reflect the change. */
import type { sandbox as endpoints } from 'crypto-checkout/contract';
import { isoTime } from '../shared/clock.js';
import type { Handlers } from '../api/handler.js';
import type { Sandbox } from './sandbox.js';

export function createSandboxHandlers(sandbox: Sandbox): Handlers<{ sandbox: typeof endpoints }>['sandbox'] {
  return {
    async transfer({ body }, { change }) {
      const reply = await change(async (transaction) => ({
        message: 'Transfer sent',
        data: { txHash: await sandbox.transfer(transaction, body) },
      }));
      await sandbox.syncNetwork(body.network);
      return reply;
    },

    async mine({ body }, { change }) {
      const reply = await change(async (transaction) => ({
        message: 'Blocks added',
        data: await sandbox.mine(transaction, body.network, body.count),
      }));
      await sandbox.syncNetwork(body.network);
      return reply;
    },

    async reorg({ body }, { change }) {
      const reply = await change(async (transaction) => ({
        message: 'Blocks replaced',
        data: await sandbox.reorg(transaction, body.network, body.depth, body.keep),
      }));
      await sandbox.syncNetwork(body.network);
      return reply;
    },

    async advanceClock({ body }, { change }) {
      const reply = await change(async (transaction) => ({
        message: 'Clock advanced',
        data: { now: isoTime(await sandbox.advanceClock(transaction, body.advanceSeconds)) },
      }));
      await sandbox.syncClock();
      return reply;
    },
  };
}
