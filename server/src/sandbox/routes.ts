/** Handlers of `/sandbox`: each answers when payments know of what it did. */
import type { sandbox } from 'crypto-checkout/contract';
import { isoTime } from '../clock.js';
import type { Handlers } from '../http/handler.js';
import type { Sandbox } from './sandbox.js';

interface Services {
  readonly sandbox: Sandbox;
}

export const sandboxHandlers = {
  async transfer({ body }, { services, change }) {
    const reply = await change(async (transaction) => ({
      message: 'Transfer sent',
      data: { txHash: await services.sandbox.transfer(transaction, body) },
    }));
    await services.sandbox.settleNetwork(body.network);
    return reply;
  },

  async mine({ body }, { services, change }) {
    const reply = await change(async (transaction) => ({
      message: 'Blocks added',
      data: await services.sandbox.mine(transaction, body.network, body.count),
    }));
    await services.sandbox.settleNetwork(body.network);
    return reply;
  },

  async reorg({ body }, { services, change }) {
    const reply = await change(async (transaction) => ({
      message: 'Blocks replaced',
      data: await services.sandbox.reorg(transaction, body.network, body.depth, body.keep),
    }));
    await services.sandbox.settleNetwork(body.network);
    return reply;
  },

  async advanceClock({ body }, { services, change }) {
    const reply = await change(async (transaction) => ({
      message: 'Clock advanced',
      data: { now: isoTime(await services.sandbox.advanceClock(transaction, body.advanceSeconds)) },
    }));
    await services.sandbox.settleClock();
    return reply;
  },
} satisfies Handlers<{ sandbox: typeof sandbox }, Services>['sandbox'];
