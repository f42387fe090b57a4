/** Handlers of `/v1/balances`. */
import type { ApiHandlers } from '../api/handler.js';
import type { Balances } from './balances.js';

export function createBalanceHandlers(balances: Balances): ApiHandlers<'balances'> {
  return {
    async list(_input, { caller }) {
      return { data: await balances.list(caller) };
    },
  };
}
