/** Accounts, keys, payments, deposit addresses, receipts, scanning, the ledger, idempotency and the simulated chain. */
import type { Kysely } from 'kysely';
import type { Engine } from '../database.js';

export async function foundation(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('merchants')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('business_name', 'text', (c) => c.notNull())
    .addColumn('logo', 'text', (c) => c.notNull())
    .addColumn('fee_basis_points', 'integer', (c) => c.notNull())
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
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('revoked_at', 'bigint')
    .execute();
  await schema
    .createIndex('api_keys_merchant')
    .on('api_keys')
    .columns(['merchant_id', 'mode', 'kind'])
    .execute();

  await schema
    .createTable('payments')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('tx_ref', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('redirect_url', 'text', (c) => c.notNull())
    .addColumn('base_currency', 'text', (c) => c.notNull())
    .addColumn('base_amount', 'text', (c) => c.notNull())
    .addColumn('transaction_fees', 'text', (c) => c.notNull())
    .addColumn('fee_basis_points', 'integer', (c) => c.notNull())
    .addColumn('accepted_currencies', 'text')
    .addColumn('customer_email', 'text')
    .addColumn('customer_name', 'text')
    .addColumn('customer_phone', 'text')
    .addColumn('currency', 'text')
    .addColumn('network', 'text')
    .addColumn('address_id', 'text')
    .addColumn('address', 'text')
    .addColumn('amount', 'text')
    .addColumn('fee', 'text')
    .addColumn('quote', 'text')
    .addColumn('locked_at', 'bigint')
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .addColumn('cancelled_at', 'bigint')
    .addColumn('settled_at', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute();
  await schema
    .createIndex('payments_reference')
    .unique()
    .on('payments')
    .columns(['merchant_id', 'mode', 'tx_ref'])
    .execute();
  await schema
    .createIndex('payments_newest')
    .on('payments')
    .columns(['merchant_id', 'mode', 'created_at', 'id'])
    .execute();
  await schema.createIndex('payments_expiry').on('payments').columns(['state', 'expires_at']).execute();

  await schema
    .createTable('log_entries')
    .addColumn('id', engine === 'sqlite' ? 'integer' : 'bigserial', (c) =>
      engine === 'sqlite' ? c.primaryKey().autoIncrement() : c.primaryKey(),
    )
    .addColumn('payment_id', 'text', (c) => c.notNull().references('payments.id'))
    .addColumn('time', 'bigint', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('event', 'text', (c) => c.notNull())
    .execute();
  await schema.createIndex('log_entries_payment').on('log_entries').columns(['payment_id', 'id']).execute();

  await schema
    .createTable('addresses')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('payment_id', 'text', (c) => c.references('payments.id'))
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull().unique())
    .addColumn('derivation_index', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute();
  await schema
    .createIndex('addresses_payment')
    .unique()
    .on('addresses')
    .columns(['payment_id', 'currency', 'network'])
    .execute();

  await schema
    .createTable('derivations')
    .addColumn('family', 'text', (c) => c.primaryKey())
    .addColumn('next_index', 'integer', (c) => c.notNull())
    .execute();

  await schema
    .createTable('receipts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('payment_id', 'text', (c) => c.notNull().references('payments.id'))
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('tx_hash', 'text', (c) => c.notNull())
    .addColumn('output_index', 'integer', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addColumn('senders', 'text', (c) => c.notNull())
    .addColumn('first_seen_at', 'bigint', (c) => c.notNull())
    .addColumn('block_height', 'bigint')
    .addColumn('block_hash', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('confirmed_at', 'bigint')
    .addColumn('reversals', 'integer', (c) => c.notNull())
    .addColumn('is_credited', 'integer', (c) => c.notNull())
    .addColumn('naira_value', 'text')
    .addColumn('dollar_value', 'text')
    .addColumn('base_value', 'text')
    .execute();
  await schema
    .createIndex('receipts_transfer')
    .unique()
    .on('receipts')
    .columns(['network', 'tx_hash', 'output_index'])
    .execute();
  await schema.createIndex('receipts_payment').on('receipts').columns(['payment_id']).execute();
  await schema
    .createIndex('receipts_open')
    .on('receipts')
    .columns(['network', 'status', 'block_height'])
    .execute();

  await schema
    .createTable('chain_cursors')
    .addColumn('network', 'text', (c) => c.primaryKey())
    .addColumn('height', 'bigint', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('synced_at', 'bigint', (c) => c.notNull())
    .addColumn('lease_holder', 'text')
    .addColumn('lease_until', 'bigint', (c) => c.notNull())
    .execute();

  await schema
    .createTable('scanned_blocks')
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('height', 'bigint', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('scanned_blocks_key', ['network', 'height'])
    .execute();

  await schema
    .createTable('ledger_accounts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('network', 'text')
    .addColumn('merchant_id', 'text')
    .addColumn('balance', 'text', (c) => c.notNull())
    .execute();
  await schema
    .createIndex('ledger_accounts_merchant')
    .on('ledger_accounts')
    .columns(['merchant_id', 'mode', 'currency'])
    .execute();

  await schema
    .createTable('ledger_postings')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('key', 'text', (c) => c.notNull().unique())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('payment_id', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute();

  await schema
    .createTable('ledger_entries')
    .addColumn('posting_id', 'text', (c) => c.notNull().references('ledger_postings.id'))
    .addColumn('account_id', 'text', (c) => c.notNull().references('ledger_accounts.id'))
    .addColumn('debit', 'text', (c) => c.notNull())
    .addColumn('credit', 'text', (c) => c.notNull())
    .execute();
  await schema.createIndex('ledger_entries_posting').on('ledger_entries').columns(['posting_id']).execute();
  await schema.createIndex('ledger_entries_account').on('ledger_entries').columns(['account_id']).execute();

  await schema
    .createTable('idempotency')
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('key_kind', 'text', (c) => c.notNull())
    .addColumn('method', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('idempotency_key', 'text', (c) => c.notNull())
    .addColumn('payload_hash', 'text', (c) => c.notNull())
    .addColumn('reply', 'text', (c) => c.notNull())
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
  await schema.createIndex('idempotency_age').on('idempotency').columns(['mode', 'created_at']).execute();

  await schema
    .createTable('settings')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('value', 'text', (c) => c.notNull())
    .execute();

  await schema
    .createTable('simulated_blocks')
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('height', 'bigint', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('parent_hash', 'text', (c) => c.notNull())
    .addColumn('time', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('simulated_blocks_key', ['network', 'height'])
    .execute();

  await schema
    .createTable('simulated_transfers')
    .addColumn('tx_hash', 'text', (c) => c.primaryKey())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('sender', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addColumn('sent_at', 'bigint', (c) => c.notNull())
    .addColumn('block_height', 'bigint')
    .execute();
  await schema
    .createIndex('simulated_transfers_block')
    .on('simulated_transfers')
    .columns(['network', 'block_height'])
    .execute();
}
