/** Handlers of `/v1/wallets`. */
import type { api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import { paginate } from '../http/pagination.js';
import type { Wallets } from './wallets.js';

export const walletHandlers = {
  async list({ query }, { services, caller }) {
    const { wallets, total } = await services.wallets.list(caller, query);
    return {
      message: 'Wallets fetched',
      data: wallets,
      pagination: paginate(query, wallets.length, total),
    };
  },

  async retrieve({ params }, { services, caller }) {
    return { message: 'Wallet fetched', data: await services.wallets.retrieve(caller, params.wallet_id) };
  },

  create: ({ body }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Wallet created',
      data: await services.wallets.create(transaction, caller, body),
    })),

  remove: ({ params }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Wallet deleted',
      data: await services.wallets.remove(transaction, caller, params.wallet_id),
    })),
} satisfies Handlers<Pick<typeof api, 'wallets'>, { wallets: Wallets }>['wallets'];
