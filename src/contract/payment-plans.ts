/** Payment plans: how much subscribers are charged, how often and how many times. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import {
  boolean,
  described,
  id,
  integer,
  listQuery,
  mode,
  positiveDecimal,
  requiredText,
  text,
} from './fields.js';

const frequency = z.enum(['hourly', 'weekly', 'daily', 'monthly', 'quarterly', 'every six months', 'yearly']);
export type Frequency = z.output<typeof frequency>;
export const frequencies: readonly Frequency[] = frequency.options;

const paymentPlan = z.object({
  id: z.string(),
  mode,
  isActive: z.boolean(),
  currencies: z.array(z.string()),
  currency: z.string(),
  amount: z.number(),
  numberOfTimesToCharge: z.number(),
  frequency,
  planName: z.string(),
});

const params = z.object({ payment_plan_id: described(id, 'Id of the payment plan.') });

const sampleFields = {
  frequency: 'monthly',
  planName: 'Example membership',
  numberOfTimesToCharge: 12,
  amount: 5000,
  currency: 'NGN',
  currencies: ['BTC', 'USDT'],
} as const;
const samplePlan = {
  id: '01J9ZQ3P0A1B2C3D4E5F6G7H8J',
  mode: 'live' as const,
  isActive: true,
  ...sampleFields,
};
const sampleParams = { payment_plan_id: samplePlan.id };

export const paymentPlans = {
  listFrequencies: endpoint({
    method: 'GET',
    path: '/v1/payment-plans/misc',
    key: 'secret',
    description: 'Lists the billing frequencies that a plan can use.',
    data: z.object({ frequencies: z.array(frequency) }),
    sample: { message: 'Frequencies fetched', data: { frequencies: [...frequencies] } },
  }),
  create: endpoint({
    method: 'POST',
    path: '/v1/payment-plans',
    key: 'secret',
    description: 'Creates a plan with an amount in a base currency, payable in any of `currencies`.',
    body: z.object({
      frequency: described(frequency, 'The interval at which a subscriber is charged.'),
      planName: described(requiredText(), 'Name of the plan. Subscribers see it too.'),
      numberOfTimesToCharge: described(integer(1), 'Number of charges after which a subscription ends.'),
      amount: described(positiveDecimal, 'Amount of each charge, in `currency`.'),
      currency: described(requiredText(20), 'Base currency: the currency of `amount`.'),
      currencies: described(
        z.array(requiredText(20)).check(z.minLength(1), z.maxLength(100)),
        'Currencies that subscribers can pay in: codes from the list of currencies, at most 100.',
      ),
    }),
    data: paymentPlan,
    errors: ['unsupported_currency'],
    sample: { body: sampleFields, message: 'Payment plan created', data: samplePlan },
  }),
  list: endpoint({
    method: 'GET',
    path: '/v1/payment-plans',
    key: 'secret',
    description: 'Lists your payment plans, newest first.',
    query: listQuery({ currency: described(z.optional(text()), 'Only plans with this base currency.') }),
    data: z.array(paymentPlan),
    paginated: true,
    sample: { query: { currency: 'NGN' }, message: 'Payment plans fetched', data: [samplePlan] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/payment-plans/{payment_plan_id}',
    key: 'secret',
    description: 'Returns one payment plan.',
    params,
    data: paymentPlan,
    sample: { params: sampleParams, message: 'Payment plan fetched', data: samplePlan },
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/v1/payment-plans/{payment_plan_id}',
    key: 'secret',
    description:
      'Changes the amount, starting with the next cycle, or deactivates the plan. A deactivated plan has no new subscribers and no new cycles.',
    params,
    body: z.object({
      amount: described(z.optional(positiveDecimal), 'New amount, starting with the next charge.'),
      isActive: described(
        z.optional(boolean),
        'Set to false to deactivate the plan: no new subscribers, no new cycles. Set to true to reactivate it.',
      ),
    }),
    data: paymentPlan,
    sample: {
      params: sampleParams,
      body: { amount: 6000, isActive: true },
      message: 'Payment plan updated',
      data: { ...samplePlan, amount: 6000 },
    },
  }),
};
