/** Handlers of `/v1/balances`, `/v1/payouts` and `/v1/transfers`. */
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import type { Balances } from './balances.js';
import type { Payouts } from './payouts.js';
import type { Transfers } from './transfers.js';

export function createBalanceHandlers(balances: Balances): ApiHandlers<'balances'> {
  return {
    list: (_input, { caller }) => replyWith(balances.list(caller)),
  };
}

export function createPayoutHandlers(payouts: Payouts): ApiHandlers<'payouts'> {
  return {
    list: ({ query }, { caller }) => replyWithPage(query, payouts.list(caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(payouts.retrieve(caller, params.payout_id)),
  };
}

export function createTransferHandlers(transfers: Transfers): ApiHandlers<'transfers'> {
  return {
    create: ({ body }, { caller, change }) =>
      change((transaction) => transfers.create(transaction, caller, body)),

    quoteFee: ({ body }, { caller }) => replyWith(transfers.quoteFee(caller, body)),

    retrieve: ({ params }, { caller }) => replyWith(transfers.retrieve(caller, params.transfer_id)),

    list: ({ query }, { caller }) => replyWithPage(query, transfers.list(caller, query)),
  };
}
