/** Handlers of `/v1/balances`. */
import { replyWith, type ApiHandlers } from '../api/handler.js';
import type { Balances } from './balances.js';

export function createBalanceHandlers(balances: Balances): ApiHandlers<'balances'> {
  return {
    list: (_input, { caller }) => replyWith(balances.list(caller)),
  };
}
