/** Handlers of `/v1/refunds` and of `/v1/refund-claims`. */
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import { actorOf } from '../merchants/audit-log.js';
import type { Refunds } from './refunds.js';

export function createRefundHandlers(refunds: Refunds): ApiHandlers<'refunds'> {
  return {
    create: ({ params, body }, { caller, change }) =>
      change((transaction) =>
        refunds.create(transaction, caller, { ...body, paymentId: params.payment_id }, actorOf(caller)),
      ),

    list: ({ query }, { caller }) => replyWithPage(query, refunds.list(caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(refunds.retrieve(caller, params.refund_id)),

    approve: ({ params, body }, { caller, change }) =>
      change((transaction) =>
        refunds.approve(transaction, caller, params.refund_id, actorOf(caller), body.address),
      ),

    cancel: ({ params }, { caller, change }) =>
      change((transaction) => refunds.cancel(transaction, caller, params.refund_id, actorOf(caller))),

    link: ({ params }, { caller, change }) =>
      change((transaction) => refunds.link(transaction, caller, params.refund_id, actorOf(caller))),
  };
}

export function createRefundClaimHandlers({ claims }: Refunds): ApiHandlers<'refundClaims'> {
  return {
    retrieve: ({ body }) => replyWith(claims.retrieve(body.token)),

    setAddress: ({ body }, { change }) => change((transaction) => claims.setAddress(transaction, body)),
  };
}
