/** Handlers of `/v1/payment-plan-subscribers`. */
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import type { Subscribers } from './subscribers.js';

export function createSubscriberHandlers(subscribers: Subscribers): ApiHandlers<'subscribers'> {
  return {
    create: ({ params, body }, { caller, change }) =>
      change(async (transaction) => {
        await subscribers.create(transaction, caller, params.payment_plan_id, body.email);
        return undefined;
      }),

    list: ({ query }, { caller }) => replyWithPage(query, subscribers.list(caller, query)),

    retrieve: ({ params }, { caller }) =>
      replyWith(subscribers.retrieve(caller, params.payment_plan_subscriber_id)),

    remove: ({ params }, { caller, change }) =>
      change((transaction) => subscribers.remove(transaction, caller, params.payment_plan_subscriber_id)),
  };
}
