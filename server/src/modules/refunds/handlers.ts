/** Handlers of `/v1/refunds` and of `/v1/refund-claims`. */
import type { Api } from 'crypto-checkout/contract';
import { replyWith, replyWithPage, type Handlers, type OpenContext } from '../../core/api/handler.js';
import { actorOf, makerOf } from '../../core/merchants/audit-log.js';
import { tokenDigest } from '../../core/shared/token.js';
import type { ClaimBrowser } from './claims.js';
import type { Refunds } from './refunds.js';

export function createRefundHandlers(refunds: Refunds): Handlers<Api>['refunds'] {
  return {
    create: ({ params, body }, { caller, change }) =>
      change((transaction) =>
        refunds.create(
          transaction,
          caller,
          { ...body, paymentId: params.payment_id },
          actorOf(caller),
          makerOf(caller),
        ),
      ),

    quote: ({ params }, { caller }) => replyWith(refunds.quote(caller, params.payment_id)),

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

export function createRefundClaimHandlers({ claims }: Refunds): Handlers<Api>['refundClaims'] {
  return {
    retrieve: ({ body }, { cookies }) => replyWith(claims.retrieve(body.token, browserOf(cookies))),

    async setAddress({ body }, { change, cookies, signal }) {
      const proof = await claims.prove(body, signal);
      return change((transaction) => claims.setAddress(transaction, body, proof, browserOf(cookies)));
    },
  };
}

/** A cookie for each refund, which is sent only with the calls of its claim. */
function browserOf(cookies: OpenContext['cookies']): ClaimBrowser {
  // Not the id itself, which payers must not see.
  const nameOf = (refundId: string) => `refund-${tokenDigest(refundId).slice(0, 16)}`;
  return {
    find: (refundId) => cookies.find(nameOf(refundId)),
    keep: (refundId, secret, forMs) =>
      cookies.keep(nameOf(refundId), secret, {
        path: '/v1/refund-claims',
        seconds: Math.floor(forMs / 1000),
      }),
  };
}
