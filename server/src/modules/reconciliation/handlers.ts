/** Handlers of `/console/api/chain-checks`. */
import type { ConsoleApi } from 'crypto-checkout/contract';
import { replyWith, type Handlers } from '../../core/api/handler.js';
import { actorOf } from '../../core/merchants/audit-log.js';
import type { OwnChecks } from './own-checks.js';

export function createCheckHandlers(checks: OwnChecks): Pick<Handlers<ConsoleApi>, 'chainChecks'> {
  return {
    chainChecks: {
      list: (_input, { caller }) => replyWith(checks.list(caller)),

      compare: ({ params, query }, { caller, signal }) =>
        replyWith(checks.compare(caller, params.network, query.after, signal)),

      book: ({ params, body }, { caller, signal }) =>
        replyWith(checks.book(caller, params.network, body.address, actorOf(caller), signal)),
    },
  };
}
