/** Handlers of `/v1/wallet-addresses`. */
import type { api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import { paginate } from '../http/pagination.js';
import type { WalletAddresses } from './wallet-addresses.js';

interface Services {
  readonly walletAddresses: WalletAddresses;
}

export const walletAddressHandlers = {
  create: ({ body }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Wallet address created',
      data: await services.walletAddresses.create(transaction, caller, body),
    })),

  async list({ query }, { services, caller }) {
    const { walletAddresses, total } = await services.walletAddresses.list(caller, query);
    return {
      message: 'Wallet addresses fetched',
      data: walletAddresses,
      pagination: paginate(query, walletAddresses.length, total),
    };
  },

  async retrieve({ params }, { services, caller }) {
    const data = await services.walletAddresses.retrieve(caller, params.wallet_address_id);
    return { message: 'Wallet address fetched', data };
  },

  makePrimary: ({ params }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Wallet address made primary',
      data: await services.walletAddresses.makePrimary(transaction, caller, params.wallet_address_id),
    })),
} satisfies Handlers<Pick<typeof api, 'walletAddresses'>, Services>['walletAddresses'];
