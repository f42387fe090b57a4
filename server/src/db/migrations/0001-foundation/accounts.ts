/** Merchants, their API keys, stored replies and server settings. */
import type { Kysely } from 'kysely';

export async function createAccountTables(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('merchants')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('business_name', 'text', (c) => c.notNull())
    .addColumn('logo', 'text', (c) => c.notNull())
    .addColumn('fee_basis_points', 'integer', (c) => c.notNull())
    .addColumn('support_url', 'text', (c) => c.notNull())
    .addColumn('redirect_origins', 'text')
    .addColumn('transfers', 'text', (c) => c.notNull())
    .addColumn('daily_limits', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute();

  await schema
    .createTable('api_keys')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('digest', 'text', (c) => c.notNull().unique())
    .addColumn('public_key', 'text')
    .addColumn('last4', 'text', (c) => c.notNull())
    .addColumn('scope', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('revoked_at', 'bigint')
    .execute();
  await schema
    .createIndex('api_keys_merchant')
    .on('api_keys')
    .columns(['merchant_id', 'mode', 'kind'])
    .execute();

  await schema
    .createTable('idempotency')
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('key_kind', 'text', (c) => c.notNull())
    .addColumn('method', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('idempotency_key', 'text', (c) => c.notNull())
    .addColumn('payload_hash', 'text', (c) => c.notNull())
    .addColumn('reply_hash', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('idempotency_key', [
      'merchant_id',
      'mode',
      'key_kind',
      'method',
      'path',
      'idempotency_key',
    ])
    .execute();
  await schema.createIndex('idempotency_age').on('idempotency').column('created_at').execute();

  await schema
    .createTable('idempotency_replies')
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('reply', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('idempotency_reply', ['merchant_id', 'mode', 'hash'])
    .execute();
  await schema
    .createIndex('idempotency_replies_age')
    .on('idempotency_replies')
    .column('created_at')
    .execute();

  await schema
    .createTable('test_clocks')
    .addColumn('merchant_id', 'text', (c) => c.primaryKey())
    .addColumn('offset_ms', 'bigint', (c) => c.notNull())
    .addColumn('moved_at', 'bigint', (c) => c.notNull())
    .execute();

  await schema
    .createTable('settings')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('value', 'text', (c) => c.notNull())
    .execute();
}
