/** Handlers of `/v1/payment-plans`. */
import { frequencies, type api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import { paginate } from '../http/pagination.js';
import type { PaymentPlans } from './payment-plans.js';

interface Services {
  readonly paymentPlans: PaymentPlans;
}

export const paymentPlanHandlers = {
  listFrequencies: () =>
    Promise.resolve({ message: 'Frequencies fetched', data: { frequencies: [...frequencies] } }),

  create: ({ body }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Payment plan created',
      data: await services.paymentPlans.create(transaction, caller, body),
    })),

  async list({ query }, { services, caller }) {
    const { plans, total } = await services.paymentPlans.list(caller, query);
    return {
      message: 'Payment plans fetched',
      data: plans,
      pagination: paginate(query, plans.length, total),
    };
  },

  async retrieve({ params }, { services, caller }) {
    const data = await services.paymentPlans.retrieve(caller, params.payment_plan_id);
    return { message: 'Payment plan fetched', data };
  },

  update: ({ params, body }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Payment plan updated',
      data: await services.paymentPlans.update(transaction, caller, params.payment_plan_id, body),
    })),
} satisfies Handlers<Pick<typeof api, 'paymentPlans'>, Services>['paymentPlans'];
