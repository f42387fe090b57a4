/** Handlers of `/v1/customers`. */
import type { api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import { paginate } from '../http/pagination.js';
import type { Customers } from './customers.js';

interface Services {
  readonly customers: Customers;
}

export const customerHandlers = {
  async list({ query: { isBlackListed, ...query } }, { services, caller }) {
    const { customers, total } = await services.customers.list(caller, {
      ...query,
      isBlacklisted: isBlackListed,
    });
    return {
      message: 'Customers fetched',
      data: customers,
      pagination: paginate(query, customers.length, total),
    };
  },

  async retrieve({ params }, { services, caller }) {
    return {
      message: 'Customer fetched',
      data: await services.customers.retrieve(caller, params.customer_id),
    };
  },

  create: ({ body }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Customer created',
      data: await services.customers.create(transaction, caller, body),
    })),

  update: ({ params, body }, { services, caller, change }) =>
    change(async (transaction) => ({
      message: 'Customer updated',
      data: await services.customers.update(transaction, caller, params.customer_id, body),
    })),
} satisfies Handlers<Pick<typeof api, 'customers'>, Services>['customers'];
