/** Payment plans, subscribers and the billing cycles that were charged. */
import { sql, type Kysely } from 'kysely';

export async function createSubscriptionTables(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('payment_plans')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('plan_name', 'text', (c) => c.notNull())
    .addColumn('frequency', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addColumn('currencies', 'text', (c) => c.notNull())
    .addColumn('number_of_times_to_charge', 'bigint', (c) => c.notNull())
    .addColumn('is_active', 'integer', (c) => c.notNull())
    .addColumn('active_since', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute();
  await schema
    .createIndex('payment_plans_newest')
    .on('payment_plans')
    .columns(['merchant_id', 'mode', 'created_at', 'id'])
    .execute();
  await schema
    .createIndex('payment_plans_currency')
    .on('payment_plans')
    .columns(['merchant_id', 'mode', 'currency', 'created_at', 'id'])
    .execute();

  await schema
    .createTable('subscribers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('plan_id', 'text', (c) => c.notNull().references('payment_plans.id'))
    .addColumn('customer_id', 'text', (c) => c.notNull().references('customers.id'))
    .addColumn('next_cycle', 'bigint', (c) => c.notNull())
    .addColumn('charge_at', 'bigint')
    .addColumn('times_charged', 'bigint', (c) => c.notNull())
    .addColumn('times_paid', 'bigint', (c) => c.notNull())
    .addColumn('is_active', 'integer', (c) => c.notNull())
    .addColumn('removed_at', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute();
  // Lets a customer have only one active subscription to a plan, even if two are created at once.
  await schema
    .createIndex('subscribers_running')
    .unique()
    .on('subscribers')
    .columns(['plan_id', 'customer_id'])
    .where(sql.ref('is_active'), '=', 1)
    .execute();
  await schema.createIndex('subscribers_due').on('subscribers').columns(['mode', 'charge_at']).execute();
  // Finds the subscribers that a merchant's moved test clock has made due.
  await schema
    .createIndex('subscribers_test_due')
    .on('subscribers')
    .columns(['merchant_id', 'charge_at'])
    .where(sql.ref('mode'), '=', sql.lit('test'))
    .execute();
  await schema
    .createIndex('subscribers_newest')
    .on('subscribers')
    .columns(['merchant_id', 'mode', 'created_at', 'id'])
    .where(sql.ref('removed_at'), 'is', null)
    .execute();
  await schema
    .createIndex('subscribers_active')
    .on('subscribers')
    .columns(['merchant_id', 'mode', 'is_active', 'created_at', 'id'])
    .where(sql.ref('removed_at'), 'is', null)
    .execute();
  await schema
    .createIndex('subscribers_customer')
    .on('subscribers')
    .columns(['merchant_id', 'mode', 'customer_id', 'created_at', 'id'])
    .where(sql.ref('removed_at'), 'is', null)
    .execute();

  await schema
    .createTable('subscriber_cycles')
    .addColumn('subscriber_id', 'text', (c) => c.notNull().references('subscribers.id'))
    .addColumn('cycle', 'bigint', (c) => c.notNull())
    .addColumn('payment_id', 'text', (c) => c.notNull().unique().references('payments.id'))
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('subscriber_cycles_key', ['subscriber_id', 'cycle'])
    .execute();
  await schema
    .createIndex('subscriber_cycles_outcome')
    .on('subscriber_cycles')
    .columns(['subscriber_id', 'outcome', 'cycle'])
    .execute();
}
