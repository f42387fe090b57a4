/** Handlers of `/v1/transfers`. */
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import type { Transfers } from './transfers.js';

export function createTransferHandlers(transfers: Transfers): ApiHandlers<'transfers'> {
  return {
    create: ({ body }, { caller, change }) =>
      change((transaction) => transfers.create(transaction, caller, body)),

    quoteFee: ({ body }, { caller }) => replyWith(transfers.quoteFee(caller, body)),

    retrieve: ({ params }, { caller }) => replyWith(transfers.retrieve(caller, params.transfer_id)),

    list: ({ query }, { caller }) => replyWithPage(query, transfers.list(caller, query)),
  };
}
