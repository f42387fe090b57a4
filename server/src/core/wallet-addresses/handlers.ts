/** Handlers of `/v1/wallet-addresses`. */
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import type { WalletAddresses } from './wallet-addresses.js';

export function createWalletAddressHandlers(
  walletAddresses: WalletAddresses,
): ApiHandlers<'walletAddresses'> {
  return {
    create: ({ body }, { caller, change }) =>
      change((transaction) => walletAddresses.create(transaction, caller, body)),

    list: ({ query }, { caller }) => replyWithPage(query, walletAddresses.list(caller, query)),

    retrieve: ({ params }, { caller }) =>
      replyWith(walletAddresses.retrieve(caller, params.wallet_address_id)),

    makePrimary: ({ params }, { caller, change }) =>
      change((transaction) => walletAddresses.makePrimary(transaction, caller, params.wallet_address_id)),
  };
}
