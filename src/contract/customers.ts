/** Customers: the people a merchant is paid by, one record per email. */
import * as z from 'zod/mini';
import { timestamp } from './checkout.js';
import { endpoint } from './endpoint.js';
import { boolean, email, id, listOf, text } from './fields.js';

const customer = z.object({
  id: z.string(),
  email: z.string(),
  fullName: z.optional(z.string()),
  phoneNumber: z.optional(z.string()),
  isBlacklisted: z.boolean(),
  createdAt: timestamp,
});

const params = z.object({ customer_id: id });

const sampleCustomer = {
  id: '01J9ZQ1C0A1B2C3D4E5F6G7H8J',
  email: 'ada@example.com',
  fullName: 'Ada Example',
  phoneNumber: '+15550100',
  isBlacklisted: false,
  createdAt: '2026-01-01T00:00:00.000Z',
};
const sampleParams = { customer_id: sampleCustomer.id };

export const customers = {
  list: endpoint({
    method: 'GET',
    path: '/v1/customers',
    key: 'secret',
    description: 'The customers of the account, newest first.',
    query: listOf({
      isBlackListed: z.optional(boolean),
      email: z.optional(text(254)),
      phoneNumber: z.optional(text()),
    }),
    data: z.array(customer),
    paginated: true,
    sample: { query: { isBlackListed: 'false' }, message: 'Customers fetched', data: [sampleCustomer] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/customers/{customer_id}',
    key: 'secret',
    description: 'One customer.',
    params,
    data: customer,
    sample: { params: sampleParams, message: 'Customer fetched', data: sampleCustomer },
  }),
  create: endpoint({
    method: 'POST',
    path: '/v1/customers',
    key: 'secret',
    description: 'Creates a customer. The email may belong to one customer only, whatever its case.',
    body: z.object({
      email,
      fullName: z.optional(text()),
      phoneNumber: z.optional(text()),
      isBlacklisted: z._default(boolean, false),
    }),
    data: customer,
    sample: {
      body: { email: 'ada@example.com', fullName: 'Ada Example', phoneNumber: '+15550100' },
      message: 'Customer created',
      data: sampleCustomer,
    },
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/v1/customers/{customer_id}',
    key: 'secret',
    description:
      'Changes the fields that are given. A blacklisted customer can start no new payment and no new subscription.',
    params,
    body: z.object({
      email: z.optional(email),
      fullName: z.optional(text()),
      phoneNumber: z.optional(text()),
      isBlacklisted: z.optional(boolean),
    }),
    data: customer,
    sample: {
      params: sampleParams,
      body: { isBlacklisted: true },
      message: 'Customer updated',
      data: { ...sampleCustomer, isBlacklisted: true },
    },
  }),
};
