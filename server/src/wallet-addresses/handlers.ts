/** Handlers of `/v1/wallet-addresses`. */
import type { ApiHandlers } from '../api/handler.js';
import { paginate } from '../shared/pagination.js';
import type { WalletAddresses } from './wallet-addresses.js';

export function createWalletAddressHandlers(
  walletAddresses: WalletAddresses,
): ApiHandlers<'walletAddresses'> {
  return {
    create: ({ body }, { caller, change }) =>
      change(async (transaction) => ({
        data: await walletAddresses.create(transaction, caller, body),
      })),

    async list({ query }, { caller }) {
      const { walletAddresses: records, total } = await walletAddresses.list(caller, query);
      return {
        data: records,
        pagination: paginate(query, records.length, total),
      };
    },

    async retrieve({ params }, { caller }) {
      const data = await walletAddresses.retrieve(caller, params.wallet_address_id);
      return { data };
    },

    makePrimary: ({ params }, { caller, change }) =>
      change(async (transaction) => ({
        data: await walletAddresses.makePrimary(transaction, caller, params.wallet_address_id),
      })),
  };
}
