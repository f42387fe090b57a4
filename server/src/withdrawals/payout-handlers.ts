/** Handlers of `/v1/payouts`. */
import type { ApiHandlers } from '../api/handler.js';
import { paginate } from '../shared/pagination.js';
import type { Payouts } from './payouts.js';

export function createPayoutHandlers(payouts: Payouts): ApiHandlers<'payouts'> {
  return {
    async list({ query }, { caller }) {
      const { payouts: records, total } = await payouts.list(caller, query);
      return {
        data: records,
        pagination: paginate(query, records.length, total),
      };
    },

    async retrieve({ params }, { caller }) {
      const data = await payouts.retrieve(caller, params.payout_id);
      return { data };
    },
  };
}
