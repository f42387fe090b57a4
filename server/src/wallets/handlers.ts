/** Handlers of `/v1/wallets`. */
import type { ApiHandlers } from '../api/handler.js';
import { paginate } from '../shared/pagination.js';
import type { Wallets } from './wallets.js';

export function createWalletHandlers(wallets: Wallets): ApiHandlers<'wallets'> {
  return {
    async list({ query }, { caller }) {
      const { wallets: records, total } = await wallets.list(caller, query);
      return {
        data: records,
        pagination: paginate(query, records.length, total),
      };
    },

    async retrieve({ params }, { caller }) {
      return { data: await wallets.retrieve(caller, params.wallet_id) };
    },

    create: ({ body }, { caller, change }) =>
      change(async (transaction) => ({
        data: await wallets.create(transaction, caller, body),
      })),

    remove: ({ params }, { caller, change }) =>
      change(async (transaction) => ({
        data: await wallets.remove(transaction, caller, params.wallet_id),
      })),
  };
}
