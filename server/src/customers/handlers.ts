/** Handlers of `/v1/customers`. */
import type { ApiHandlers } from '../api/handler.js';
import { paginate } from '../shared/pagination.js';
import type { Customers } from './customers.js';

export function createCustomerHandlers(customers: Customers): ApiHandlers<'customers'> {
  return {
    async list({ query: { isBlackListed, ...query } }, { caller }) {
      const { customers: records, total } = await customers.list(caller, {
        ...query,
        isBlacklisted: isBlackListed,
      });
      return {
        data: records,
        pagination: paginate(query, records.length, total),
      };
    },

    async retrieve({ params }, { caller }) {
      return {
        data: await customers.retrieve(caller, params.customer_id),
      };
    },

    create: ({ body }, { caller, change }) =>
      change(async (transaction) => ({
        data: await customers.create(transaction, caller, body),
      })),

    update: ({ params, body }, { caller, change }) =>
      change(async (transaction) => ({
        data: await customers.update(transaction, caller, params.customer_id, body),
      })),
  };
}
