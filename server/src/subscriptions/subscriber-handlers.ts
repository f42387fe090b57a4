/** Handlers of `/v1/payment-plan-subscribers`. */
import type { ApiHandlers } from '../api/handler.js';
import { paginate } from '../shared/pagination.js';
import type { Subscribers } from './subscribers.js';

export function createSubscriberHandlers(subscribers: Subscribers): ApiHandlers<'subscribers'> {
  return {
    create: ({ params, body }, { caller, change }) =>
      change(async (transaction) => {
        await subscribers.create(transaction, caller, params.payment_plan_id, body.email);
        return { data: undefined };
      }),

    async list({ query }, { caller }) {
      const { subscribers: records, total } = await subscribers.list(caller, query);
      return {
        data: records,
        pagination: paginate(query, records.length, total),
      };
    },

    async retrieve({ params }, { caller }) {
      const data = await subscribers.retrieve(caller, params.payment_plan_subscriber_id);
      return { data };
    },

    remove: ({ params }, { caller, change }) =>
      change(async (transaction) => ({
        data: await subscribers.remove(transaction, caller, params.payment_plan_subscriber_id),
      })),
  };
}
