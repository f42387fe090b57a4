/** What left deposit addresses of treasuries, what treasuries paid, and the transactions of gas keys. */
import type { Kysely } from 'kysely';

export async function createSweepTables(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('treasury_cursors')
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('height', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('treasury_cursors_key', ['mode', 'network'])
    .execute();

  await schema
    .createTable('sweeps')
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('tx_hash', 'text', (c) => c.notNull())
    .addColumn('log_index', 'integer', (c) => c.notNull())
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('treasury', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addColumn('block_height', 'bigint', (c) => c.notNull())
    .addColumn('block_hash', 'text', (c) => c.notNull())
    .addColumn('is_reversed', 'integer', (c) => c.notNull())
    .addColumn('reversals', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('sweeps_key', ['mode', 'network', 'tx_hash', 'log_index'])
    .execute();
  await schema
    .createIndex('sweeps_merchant')
    .on('sweeps')
    .columns(['merchant_id', 'mode', 'network', 'address'])
    .execute();
  await schema
    .createIndex('sweeps_height')
    .on('sweeps')
    .columns(['mode', 'network', 'block_height'])
    .execute();

  await schema
    .createTable('treasury_payments')
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('tx_hash', 'text', (c) => c.notNull())
    .addColumn('output_index', 'integer', (c) => c.notNull())
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('treasury', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addColumn('block_height', 'bigint', (c) => c.notNull())
    .addColumn('paid_at', 'bigint', (c) => c.notNull())
    .addColumn('transfer_id', 'text')
    .addPrimaryKeyConstraint('treasury_payments_key', ['mode', 'network', 'tx_hash', 'output_index'])
    .execute();
  await schema
    .createIndex('treasury_payments_open')
    .on('treasury_payments')
    .columns(['merchant_id', 'mode', 'network', 'transfer_id'])
    .execute();

  await schema
    .createTable('treasury_fees')
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('tx_hash', 'text', (c) => c.notNull())
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('treasury_fees_key', ['mode', 'network', 'tx_hash'])
    .execute();

  await schema
    .createTable('gas_transactions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('sender', 'text', (c) => c.notNull())
    .addColumn('nonce', 'bigint', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('tx_hash', 'text', (c) => c.notNull().unique())
    .addColumn('raw', 'text', (c) => c.notNull())
    .addColumn('call_data', 'text', (c) => c.notNull())
    .addColumn('addresses', 'integer', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('gas_limit', 'text', (c) => c.notNull())
    .addColumn('max_fee', 'text', (c) => c.notNull())
    .addColumn('priority_fee', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('cost', 'text')
    .addColumn('block_height', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('ended_at', 'bigint')
    .execute();
  // A nonce is signed once, and then only replaced: two servers with one key never both take it.
  await schema
    .createIndex('gas_transactions_nonce')
    .unique()
    .on('gas_transactions')
    .columns(['mode', 'network', 'sender', 'nonce', 'attempt'])
    .execute();
  await schema
    .createIndex('gas_transactions_status')
    .on('gas_transactions')
    .columns(['status', 'created_at'])
    .execute();
}
