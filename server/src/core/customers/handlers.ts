/** Handlers of `/v1/customers`. */
import { replyWith, replyWithPage, type ApiHandlers } from '../api/handler.js';
import type { Customers } from './customers.js';

export function createCustomerHandlers(customers: Customers): ApiHandlers<'customers'> {
  return {
    list: ({ query }, { caller }) => replyWithPage(query, customers.list(caller, query)),

    retrieve: ({ params }, { caller }) => replyWith(customers.retrieve(caller, params.customer_id)),

    create: ({ body }, { caller, change }) =>
      change((transaction) => customers.create(transaction, caller, body)),

    update: ({ params, body }, { caller, change }) =>
      change((transaction) => customers.update(transaction, caller, params.customer_id, body)),
  };
}
