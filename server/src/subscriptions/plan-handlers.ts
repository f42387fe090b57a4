/** Handlers of `/v1/payment-plans`. */
import { frequencies } from 'crypto-checkout/contract';
import type { ApiHandlers } from '../api/handler.js';
import { paginate } from '../shared/pagination.js';
import type { PaymentPlans } from './plans.js';

export function createPaymentPlanHandlers(paymentPlans: PaymentPlans): ApiHandlers<'paymentPlans'> {
  return {
    listFrequencies: () => Promise.resolve({ data: { frequencies: [...frequencies] } }),

    create: ({ body }, { caller, change }) =>
      change(async (transaction) => ({
        data: await paymentPlans.create(transaction, caller, body),
      })),

    async list({ query }, { caller }) {
      const { plans, total } = await paymentPlans.list(caller, query);
      return {
        data: plans,
        pagination: paginate(query, plans.length, total),
      };
    },

    async retrieve({ params }, { caller }) {
      const data = await paymentPlans.retrieve(caller, params.payment_plan_id);
      return { data };
    },

    update: ({ params, body }, { caller, change }) =>
      change(async (transaction) => ({
        data: await paymentPlans.update(transaction, caller, params.payment_plan_id, body),
      })),
  };
}
