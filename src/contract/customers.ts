/** Customers: a merchant's payers, one record per email. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { boolean, described, email, id, listQuery, mode, text, timestamp } from './fields.js';

const customer = z.object({
  id: z.string(),
  mode,
  email: z.string(),
  fullName: z.optional(z.string()),
  phoneNumber: z.optional(z.string()),
  isBlacklisted: z.boolean(),
  createdAt: timestamp,
});

const params = z.object({ customer_id: described(id, 'Id of the customer.') });

const sampleCustomer = {
  id: '01J9ZQ1C0A1B2C3D4E5F6G7H8J',
  mode: 'live' as const,
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
    description: 'Lists your customers, newest first.',
    query: listQuery({
      isBlackListed: described(
        z.optional(boolean),
        'Only blacklisted customers (true) or only the others (false).',
      ),
      email: described(z.optional(text(254)), 'Only the customer with this email. Case does not matter.'),
      phoneNumber: described(z.optional(text()), 'Only customers with exactly this phone number.'),
    }),
    data: z.array(customer),
    paginated: true,
    sample: { query: { isBlackListed: 'false' }, message: 'Customers fetched', data: [sampleCustomer] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/customers/{customer_id}',
    key: 'secret',
    description: 'Returns one customer.',
    params,
    data: customer,
    sample: { params: sampleParams, message: 'Customer fetched', data: sampleCustomer },
  }),
  create: endpoint({
    method: 'POST',
    path: '/v1/customers',
    key: 'secret',
    description: 'Creates a customer. Emails are unique, regardless of case.',
    body: z.object({
      email: described(email, 'Email of the customer. Unique in your account, regardless of case.'),
      fullName: described(z.optional(text()), 'Full name.'),
      phoneNumber: described(z.optional(text()), 'Phone number, in any format.'),
      isBlacklisted: described(
        z._default(boolean, false),
        'Set to true to bar the customer from new payments and subscriptions. Defaults to false.',
      ),
    }),
    data: customer,
    errors: ['customer_exists'],
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
      'Changes the given fields. Blacklisted customers cannot start new payments or subscriptions.',
    params,
    body: z.object({
      email: described(z.optional(email), 'New email. No other customer may have it.'),
      fullName: described(z.optional(text()), 'New full name.'),
      phoneNumber: described(z.optional(text()), 'New phone number.'),
      isBlacklisted: described(
        z.optional(boolean),
        'Set to true to bar the customer from new payments and subscriptions.',
      ),
    }),
    data: customer,
    errors: ['customer_exists'],
    sample: {
      params: sampleParams,
      body: { isBlacklisted: true },
      message: 'Customer updated',
      data: { ...sampleCustomer, isBlacklisted: true },
    },
  }),
};
