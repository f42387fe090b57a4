/** Handlers of `/v1/payment-plans`. */
import { frequencies } from 'crypto-checkout/contract';
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import type { PaymentPlans } from './plans.js';

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
