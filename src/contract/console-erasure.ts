/** Erasing a customer's personal data in the console, and a preview of it. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { described, id, requiredText } from './fields.js';

const params = z.object({ customer_id: described(id, 'Id of the customer.') });
const sampleParams = { customer_id: '01J9ZQ1C0A1B2C3D4E5F6G7H8J' };
const email = 'ada@example.com';

export const erasure = {
  preview: endpoint({
    method: 'GET',
    path: '/console/api/erasure/{customer_id}',
    key: 'session',
    description: 'Counts what erasing a customer would change, in both modes, and says what is in the way.',
    params,
    data: z.object({
      email: z.string(),
      customers: z.int(),
      payments: z.int(),
      /** Something that must end first; null if nothing is in the way. */
      blockedBy: z.nullable(z.enum(['subscription', 'refund'])),
      /** True if there is nothing left to erase. */
      isErased: z.boolean(),
    }),
    sample: {
      params: sampleParams,
      message: 'Preview fetched',
      data: { email, customers: 1, payments: 3, blockedBy: null, isErased: false },
    },
  }),
  erase: endpoint({
    method: 'POST',
    path: '/console/api/erasure/{customer_id}',
    key: 'session',
    stepUp: true,
    description:
      'Erases a customer’s e-mail address, names and phone numbers for good, in both modes. Amounts, transactions and references stay, so the books still add up.',
    params,
    body: z.object({
      email: described(requiredText(254), 'The customer’s e-mail address, typed again to confirm.'),
    }),
    data: z.object({
      customers: z.int(),
      payments: z.int(),
      webhooks: z.int(),
      storedReplies: z.int(),
      /** The address that stands for the customer now. */
      replacedBy: z.string(),
    }),
    errors: ['invalid_state'],
    sample: {
      params: sampleParams,
      body: { email },
      message: 'Customer erased',
      data: {
        customers: 1,
        payments: 3,
        webhooks: 4,
        storedReplies: 2,
        replacedBy: 'erased-01j9zq9m0r1s2t3v4w5x6y7z8a@erased.invalid',
      },
    },
  }),
};
