/** Subscribers, plans and customers in the console: each with the names of the others and the sums that were paid. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { boolean, described, id, listQuery, text, timestamp } from './fields.js';

const sampleTime = '2026-01-01T00:00:00.000Z';
const customerId = '01J9ZQ1C0A1B2C3D4E5F6G7H8J';
const planId = '01J9ZQ3P0A1B2C3D4E5F6G7H8J';

const sum = z.object({ currency: z.string(), payments: z.int(), amount: z.number() });

const subscription = z.object({
  id: z.string(),
  isActive: z.boolean(),
  customer: z.object({ id: z.string(), email: z.string(), fullName: z.optional(z.string()) }),
  plan: z.object({ id: z.string(), planName: z.string(), amount: z.number(), currency: z.string() }),
  timesPaid: z.int(),
  /** In the plan's currency. */
  paid: z.number(),
  /** Null if nothing was paid yet. */
  lastPaidAt: z.nullable(timestamp),
  /** Null if nothing more is charged. */
  nextChargeAt: z.nullable(timestamp),
  createdAt: timestamp,
});

const sampleSubscription = {
  id: '01J9ZQ4S0A1B2C3D4E5F6G7H8J',
  isActive: true,
  customer: { id: customerId, email: 'ada@example.com', fullName: 'Ada Example' },
  plan: { id: planId, planName: 'Example membership', amount: 5000, currency: 'NGN' },
  timesPaid: 1,
  paid: 5000,
  lastPaidAt: sampleTime,
  nextChargeAt: sampleTime,
  createdAt: sampleTime,
};

export const relations = {
  listSubscriptions: endpoint({
    method: 'GET',
    path: '/console/api/subscriptions',
    key: 'session',
    description: 'Lists the subscribers of plans with their names and what they have paid, newest first.',
    query: listQuery({
      customer: described(
        z.optional(text(254)),
        'Only subscriptions of the customer with this email address.',
      ),
      planId: described(z.optional(id), 'Only subscribers of the plan with this id: the newest 10,000.'),
      isActive: described(z.optional(boolean), 'Only active ones (true) or only those that ended (false).'),
    }),
    data: z.array(subscription),
    paginated: true,
    sample: {
      query: { isActive: 'true' },
      message: 'Subscriptions fetched',
      data: [sampleSubscription],
    },
  }),
  sumCustomer: endpoint({
    method: 'GET',
    path: '/console/api/customer-sums/{customer_id}',
    key: 'session',
    description: 'Adds up what a customer has paid, by the currency of the prices.',
    params: z.object({ customer_id: described(id, 'Id of the customer.') }),
    data: z.array(sum),
    sample: {
      params: { customer_id: customerId },
      message: 'Sums fetched',
      data: [{ currency: 'USD', payments: 3, amount: 60 }],
    },
  }),
  sumPlan: endpoint({
    method: 'GET',
    path: '/console/api/plan-sums/{plan_id}',
    key: 'session',
    description: 'Counts the subscribers of a plan, and adds up what they have paid.',
    params: z.object({ plan_id: described(id, 'Id of the payment plan.') }),
    data: z.object({
      active: z.int(),
      ended: z.int(),
      /** Null if there are more than 10,000 subscribers. */
      paid: z.nullable(sum),
    }),
    sample: {
      params: { plan_id: planId },
      message: 'Sums fetched',
      data: { active: 2, ended: 1, paid: { currency: 'NGN', payments: 7, amount: 35_000 } },
    },
  }),
};
