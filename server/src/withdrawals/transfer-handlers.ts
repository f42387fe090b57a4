/** Handlers of `/v1/transfers`. */
import type { ApiHandlers } from '../api/handler.js';
import { paginate } from '../shared/pagination.js';
import type { Transfers } from './transfers.js';

export function createTransferHandlers(transfers: Transfers): ApiHandlers<'transfers'> {
  return {
    create: ({ body }, { caller, change }) =>
      change(async (transaction) => ({
        data: await transfers.create(transaction, caller, body),
      })),

    async quoteFee({ body }, { caller }) {
      return { data: await transfers.quoteFee(caller, body) };
    },

    async retrieve({ params }, { caller }) {
      const data = await transfers.retrieve(caller, params.transfer_id);
      return { data };
    },

    async list({ query }, { caller }) {
      const { transfers: records, total } = await transfers.list(caller, query);
      return {
        data: records,
        pagination: paginate(query, records.length, total),
      };
    },
  };
}
