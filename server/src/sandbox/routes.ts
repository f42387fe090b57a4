/** Handlers of `/sandbox`: each answers when payments know of what it did. */
import type { sandbox } from 'crypto-checkout/contract';
import { isoTime } from '../clock.js';
import type { Caller, Handlers } from '../http/handler.js';
import { Problem } from '../problems.js';
import type { Sandbox } from './sandbox.js';

interface Services {
  readonly sandbox: Sandbox;
}

/** Money of live mode moves on real networks alone: for live keys these paths do not exist. */
function refuseLive({ mode }: Caller): void {
  if (mode !== 'test') throw new Problem('not_found', 'There is nothing at this path');
}

export const sandboxHandlers = {
  async transfer({ body }, { services, caller, change }) {
    refuseLive(caller);
    const reply = await change(async (transaction) => ({
      message: 'Transfer sent',
      data: { txHash: await services.sandbox.transfer(transaction, body) },
    }));
    await services.sandbox.settleNetwork(body.network);
    return reply;
  },

  async mine({ body }, { services, caller, change }) {
    refuseLive(caller);
    const reply = await change(async (transaction) => ({
      message: 'Blocks added',
      data: await services.sandbox.mine(transaction, body.network, body.count),
    }));
    await services.sandbox.settleNetwork(body.network);
    return reply;
  },

  async reorg({ body }, { services, caller, change }) {
    refuseLive(caller);
    const reply = await change(async (transaction) => ({
      message: 'Blocks replaced',
      data: await services.sandbox.reorg(transaction, body.network, body.depth, body.keep),
    }));
    await services.sandbox.settleNetwork(body.network);
    return reply;
  },

  async advanceClock({ body }, { services, caller, change }) {
    refuseLive(caller);
    const reply = await change(async (transaction) => ({
      message: 'Clock advanced',
      data: { now: isoTime(await services.sandbox.advanceClock(transaction, body.advanceSeconds)) },
    }));
    await services.sandbox.settleClock();
    return reply;
  },
} satisfies Handlers<{ sandbox: typeof sandbox }, Services>['sandbox'];
