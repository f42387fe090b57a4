/** Payment plan subscribers: the customers that a plan charges, and how many charges each has paid. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { boolean, described, email, id, listQuery, mode, text, timestamp } from './fields.js';

const subscriber = z.object({
  id: z.string(),
  mode,
  isActive: z.boolean(),
  noOfTimesPayed: z.number(),
  paymentPlanId: z.string(),
  accountId: z.optional(z.string()),
  customerId: z.string(),
  createdAt: timestamp,
});
const listedSubscriber = z.extend(subscriber, { accountId: z.string() });

const params = z.object({ payment_plan_subscriber_id: described(id, 'Id of the subscriber.') });

const sampleSubscriber = {
  id: '01J9ZQ4S0A1B2C3D4E5F6G7H8J',
  mode: 'live' as const,
  isActive: true,
  noOfTimesPayed: 1,
  paymentPlanId: '01J9ZQ3P0A1B2C3D4E5F6G7H8J',
  accountId: '01J9ZP0000000000000000000M',
  customerId: '01J9ZQ1C0A1B2C3D4E5F6G7H8J',
  createdAt: '2026-01-01T00:00:00.000Z',
};
const sampleParams = { payment_plan_subscriber_id: sampleSubscriber.id };

export const subscribers = {
  create: endpoint({
    method: 'POST',
    path: '/v1/payment-plan-subscribers/{payment_plan_id}',
    key: 'secret',
    description: 'Subscribes a customer to a plan, by email. The first payment is due immediately.',
    params: z.object({ payment_plan_id: described(id, 'Id of the payment plan to subscribe to.') }),
    body: z.object({ email: described(email, 'Email of the subscriber.') }),
    errors: ['customer_not_allowed', 'plan_inactive', 'already_subscribed', 'rate_unavailable'],
    sample: {
      params: { payment_plan_id: sampleSubscriber.paymentPlanId },
      body: { email: 'ada@example.com' },
      message: 'Subscriber created',
    },
  }),
  list: endpoint({
    method: 'GET',
    path: '/v1/payment-plan-subscribers',
    key: 'secret',
    description: 'Lists the subscribers of your plans, newest first.',
    query: listQuery({
      customer: described(z.optional(text(254)), 'Only subscriptions of the customer with this email.'),
      isActive: described(
        z.optional(boolean),
        'Only active subscriptions (true) or only inactive ones (false).',
      ),
    }),
    data: z.array(listedSubscriber),
    paginated: true,
    sample: {
      query: { customer: 'ada@example.com' },
      message: 'Subscribers fetched',
      data: [sampleSubscriber],
    },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/payment-plan-subscribers/{payment_plan_subscriber_id}',
    key: 'secret',
    description: 'Returns one subscriber.',
    params,
    data: subscriber,
    sample: { params: sampleParams, message: 'Subscriber fetched', data: sampleSubscriber },
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v1/payment-plan-subscribers/{payment_plan_subscriber_id}',
    key: 'secret',
    description: 'Ends a subscription and returns it one last time. After that, requests for it answer 404.',
    params,
    data: subscriber,
    sample: {
      params: sampleParams,
      message: 'Subscriber removed',
      data: { ...sampleSubscriber, isActive: false },
    },
  }),
};
