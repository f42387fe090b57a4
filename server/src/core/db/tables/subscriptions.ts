/** Payment plans, subscribers and the billing cycles that were charged. */
import type { Frequency } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import { strings } from '../codecs.js';
import { ofOwn, own } from '../data-policy.js';
import { bigint, flag, growingTables, json, record, table, text, time, units, rowPart } from '../table.js';

export const subscriptionTables = {
  payment_plans: table(own, {
    ...record,
    plan_name: text(),
    frequency: text<Frequency>(),
    /** The currency of `amount`. */
    currency: text(),
    amount: units(),
    /** The codes of the currencies that it may be paid in. */
    currencies: json(strings),
    number_of_times_to_charge: bigint(),
    is_active: flag(),
    /** Cycles due before this time are not charged: the plan was inactive, or did not exist. */
    active_since: time(),
    created_at: time(),
    updated_at: time(),
  })
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'])
    .index('currency', ['merchant_id', 'mode', 'currency', 'created_at', 'id']),

  subscribers: table(own, {
    ...record,
    plan_id: text().references('payment_plans.id'),
    customer_id: text().references('customers.id'),
    /** The first cycle that is neither charged nor skipped. */
    next_cycle: bigint(),
    /** When billing processes it next; null if there is nothing left to charge. */
    charge_at: time().nullable(),
    times_charged: bigint(),
    times_paid: bigint(),
    is_active: flag(),
    removed_at: time().nullable(),
    /** When cycle 0 was due: the anchor of all cycles. */
    created_at: time(),
  })
    .longList({
      filters: { is_active: rowPart('is_active') },
      isListed: (row) => `${row}removed_at is null`,
    })
    // Lets a customer have only one active subscription to a plan, even if two are created at once.
    .unique('running', ['plan_id', 'customer_id'], { where: sql`is_active = 1` })
    .index('due', ['mode', 'charge_at'])
    // Finds the subscribers that a merchant's moved test clock has made due.
    .index('test_due', ['merchant_id', 'charge_at'], { where: sql`mode = 'test'` })
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'], { where: sql`removed_at is null` })
    .index('active', ['merchant_id', 'mode', 'is_active', 'created_at', 'id'], {
      where: sql`removed_at is null`,
    })
    .index('customer', ['merchant_id', 'mode', 'customer_id', 'created_at', 'id'], {
      where: sql`removed_at is null`,
    })
    // For the foreign keys: without them, a customer or a plan that is deleted would be looked for in all rows.
    .index('of_customer', ['customer_id'], { since: growingTables })
    .index('of_plan', ['plan_id'], { since: growingTables }),

  /** A charged cycle. Skipped cycles have no row. */
  subscriber_cycles: table(ofOwn({ subscriber_id: 'subscribers' }), {
    subscriber_id: text().references('subscribers.id'),
    cycle: bigint(),
    /** The payment that it was charged with, or the one that was paid in its place. */
    payment_id: text().unique().references('payments.id'),
    outcome: text<'open' | 'paid' | 'unpaid'>(),
  })
    .primaryKey('subscriber_id', 'cycle')
    .index('outcome', ['subscriber_id', 'outcome', 'cycle']),
};
