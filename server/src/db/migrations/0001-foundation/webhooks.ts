/** Webhook endpoints, the outbox and delivery attempts. */
import type { Kysely } from 'kysely';

export async function createWebhookTables(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('webhook_endpoints')
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('former_secrets', 'text', (c) => c.notNull())
    .addColumn('disabled_at', 'bigint')
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('webhook_endpoints_key', ['merchant_id', 'mode'])
    .execute();

  await schema
    .createTable('outbox')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('subject_id', 'text', (c) => c.notNull())
    .addColumn('sequence', 'bigint', (c) => c.notNull())
    .addColumn('data', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('tries', 'integer', (c) => c.notNull())
    .addColumn('due_at', 'bigint')
    .addColumn('claim', 'text')
    .addColumn('claimed_until', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute();
  await schema
    .createIndex('outbox_subject')
    .unique()
    .on('outbox')
    .columns(['subject_id', 'sequence'])
    .execute();
  // Only pending events, so that the index stays small.
  await schema
    .createIndex('outbox_due')
    .on('outbox')
    .columns(['mode', 'merchant_id', 'due_at'])
    .where('due_at', 'is not', null)
    .execute();
  await schema
    .createIndex('outbox_status')
    .on('outbox')
    .columns(['status', 'mode', 'created_at', 'id'])
    .execute();
  await schema
    .createIndex('outbox_merchant')
    .on('outbox')
    .columns(['merchant_id', 'created_at', 'id'])
    .execute();

  await schema
    .createTable('webhook_tries')
    .addColumn('event_id', 'text', (c) => c.notNull().references('outbox.id').onDelete('cascade'))
    .addColumn('tried_at', 'bigint', (c) => c.notNull())
    .addColumn('duration_ms', 'integer', (c) => c.notNull())
    .addColumn('response_status', 'integer')
    .addColumn('response_excerpt', 'text', (c) => c.notNull())
    .addColumn('error', 'text')
    .execute();
  await schema
    .createIndex('webhook_tries_event')
    .on('webhook_tries')
    .columns(['event_id', 'tried_at'])
    .execute();
}
