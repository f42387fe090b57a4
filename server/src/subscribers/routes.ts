/** Handlers of `/v1/payment-plan-subscribers`. */
import type { api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import { paginate } from '../http/pagination.js';
import type { Subscribers } from './subscribers.js';

interface Services {
  readonly subscribers: Subscribers;
}

export const subscriberHandlers = {
  create: ({ params, body }, { services, caller, change }) =>
    change(async (transaction) => {
      await services.subscribers.create(transaction, caller, params.payment_plan_id, body.email);
      return { message: 'Subscriber created', data: undefined };
    }),

  async list({ query }, { services, caller }) {
    const { subscribers, total } = await services.subscribers.list(caller, query);
    return {
      message: 'Subscribers fetched',
      data: subscribers,
      pagination: paginate(query, subscribers.length, total),
    };
  },

  async retrieve({ params }, { services, caller }) {
    const data = await services.subscribers.retrieve(caller, params.payment_plan_subscriber_id);
    return { message: 'Subscriber fetched', data };
  },

  remove: ({ params }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Subscriber removed',
      data: await services.subscribers.remove(transaction, caller, params.payment_plan_subscriber_id),
    })),
} satisfies Handlers<Pick<typeof api, 'subscribers'>, Services>['subscribers'];
