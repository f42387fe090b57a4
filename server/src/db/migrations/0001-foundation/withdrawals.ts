/** Transfers, payouts and suspended balances. */
import type { Kysely } from 'kysely';

export async function createWithdrawalTables(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('transfers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('executor', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addColumn('fee', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('wallet_address_id', 'text')
    .addColumn('signed_transaction', 'text')
    .addColumn('tx_hash', 'text')
    .addColumn('paid_from', 'text')
    .addColumn('network_fee', 'text')
    .addColumn('failure_reason', 'text')
    .addColumn('settled_at', 'bigint')
    .addColumn('confirmed_at', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute();
  await schema
    .createIndex('transfers_newest')
    .on('transfers')
    .columns(['merchant_id', 'mode', 'created_at', 'id'])
    .execute();
  await schema
    .createIndex('transfers_work')
    .on('transfers')
    .columns(['executor', 'status', 'created_at', 'id'])
    .execute();
  await schema
    .createIndex('transfers_confirmed')
    .on('transfers')
    .columns(['executor', 'status', 'confirmed_at', 'id'])
    .execute();

  await schema
    .createTable('payouts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addColumn('fee', 'text', (c) => c.notNull())
    .addColumn('amount_order', 'text', (c) => c.notNull())
    .addColumn('fee_order', 'text', (c) => c.notNull())
    .addColumn('bank_account_id', 'text')
    .addColumn('wallet_address_id', 'text')
    .addColumn('destination', 'text', (c) => c.notNull())
    .addColumn('transfer_id', 'text', (c) => c.unique().references('transfers.id'))
    .addColumn('reference', 'text')
    .addColumn('tx_hash', 'text')
    .addColumn('failure_reason', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute();
  // A reference can be used for only one payout to a bank. Other payouts have none.
  await schema
    .createIndex('payouts_reference')
    .unique()
    .on('payouts')
    .columns(['merchant_id', 'mode', 'reference'])
    .execute();
  // One index for each sort order. Those on status, currency and destination also serve the filters.
  for (const [name, columns] of [
    ['payouts_newest', ['created_at']],
    ['payouts_updated', ['updated_at', 'created_at']],
    ['payouts_amount', ['amount_order', 'created_at']],
    ['payouts_fee', ['fee_order', 'created_at']],
    ['payouts_status', ['status', 'created_at']],
    ['payouts_currency', ['currency', 'created_at']],
    ['payouts_bank_account', ['bank_account_id', 'created_at']],
    ['payouts_wallet_address', ['wallet_address_id', 'created_at']],
  ] as const) {
    await schema
      .createIndex(name)
      .on('payouts')
      .columns(['merchant_id', 'mode', ...columns, 'id'])
      .execute();
  }

  await schema
    .createTable('balance_suspensions')
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('balance_suspensions_key', ['merchant_id', 'mode', 'currency'])
    .execute();
}
