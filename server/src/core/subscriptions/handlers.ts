/** Handlers of `/v1/payment-plans` and `/v1/payment-plan-subscribers`. */
import { frequencies } from 'crypto-checkout/contract';
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import type { PaymentPlans } from './plans.js';
import type { Subscribers } from './subscribers.js';

export function createPaymentPlanHandlers(paymentPlans: PaymentPlans): ApiHandlers<'paymentPlans'> {
  return {
    listFrequencies: () => Promise.resolve({ data: { frequencies: [...frequencies] } }),

    create: ({ body }, { caller, change }) =>
      change((transaction) => paymentPlans.create(transaction, caller, body)),

    list: ({ query }, { caller }) => replyWithPage(query, paymentPlans.list(caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(paymentPlans.retrieve(caller, params.payment_plan_id)),

    update: ({ params, body }, { caller, change }) =>
      change((transaction) => paymentPlans.update(transaction, caller, params.payment_plan_id, body)),
  };
}

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
