/** Handlers of `/v1/payouts`. */
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import type { Payouts } from './payouts.js';

export function createPayoutHandlers(payouts: Payouts): ApiHandlers<'payouts'> {
  return {
    list: ({ query }, { caller }) => replyWithPage(query, payouts.list(caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(payouts.retrieve(caller, params.payout_id)),
  };
}
