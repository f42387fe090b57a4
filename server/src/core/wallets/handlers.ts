/** Handlers of `/v1/wallets`. */
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import type { Wallets } from './wallets.js';

export function createWalletHandlers(wallets: Wallets): ApiHandlers<'wallets'> {
  return {
    list: ({ query }, { caller }) => replyWithPage(query, wallets.list(caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(wallets.retrieve(caller, params.wallet_id)),

    create: ({ body }, { caller, change }) =>
      change((transaction) => wallets.create(transaction, caller, body)),

    remove: ({ params }, { caller, change }) =>
      change((transaction) => wallets.remove(transaction, caller, params.wallet_id)),
  };
}
