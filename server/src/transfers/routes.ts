/** Handlers of `/v1/transfers`. */
import type { api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import { paginate } from '../http/pagination.js';
import type { Transfers } from './transfers.js';

interface Services {
  readonly transfers: Transfers;
}

export const transferHandlers = {
  create: ({ body }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Transfer created',
      data: await services.transfers.create(transaction, caller, body),
    })),

  async quoteFee({ body }, { services, caller }) {
    return { message: 'Transfer fee fetched', data: await services.transfers.quoteFee(caller, body) };
  },

  async retrieve({ params }, { services, caller }) {
    const data = await services.transfers.retrieve(caller, params.transfer_id);
    return { message: 'Transfer fetched', data };
  },

  async list({ query }, { services, caller }) {
    const { transfers, total } = await services.transfers.list(caller, query);
    return {
      message: 'Transfers fetched',
      data: transfers,
      pagination: paginate(query, transfers.length, total),
    };
  },
} satisfies Handlers<Pick<typeof api, 'transfers'>, Services>['transfers'];
