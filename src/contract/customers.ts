/** Customers: the people a merchant is paid by, one record per email. */
import * as z from 'zod/mini';
import { timestamp } from './checkout.js';
import { endpoint } from './endpoint.js';
import { boolean, described, email, id, listOf, text } from './fields.js';

const customer = z.object({
  id: z.string(),
  email: z.string(),
  fullName: z.optional(z.string()),
  phoneNumber: z.optional(z.string()),
  isBlacklisted: z.boolean(),
  createdAt: timestamp,
});

const params = z.object({ customer_id: described(id, 'Id of the customer.') });

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
      isBlackListed: described(z.optional(boolean), 'Only blacklisted customers, or only the others.'),
      email: described(z.optional(text(254)), 'Only the customer with this email, in any case.'),
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
      email: described(email, 'Email of the customer, unique in the account whatever its case.'),
      fullName: described(z.optional(text()), 'Full name.'),
      phoneNumber: described(z.optional(text()), 'Phone number, in any notation.'),
      isBlacklisted: described(
        z._default(boolean, false),
        'Whether the customer may start no payment and no subscription; false if absent.',
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
      'Changes the fields that are given. A blacklisted customer can start no new payment and no new subscription.',
    params,
    body: z.object({
      email: described(z.optional(email), 'New email, which no other customer may have.'),
      fullName: described(z.optional(text()), 'New full name.'),
      phoneNumber: described(z.optional(text()), 'New phone number.'),
      isBlacklisted: described(
        z.optional(boolean),
        'Whether the customer may start no payment and no subscription.',
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
