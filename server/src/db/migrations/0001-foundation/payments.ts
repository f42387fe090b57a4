/** Payments, their time logs, deposit addresses and receipts. */
import { sql, type Kysely } from 'kysely';
import type { Engine } from '../../engine.js';
import { paymentStatusOf } from '../../payment-status.js';

export async function createPaymentTables(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('payments')
    .addColumn('id', 'text', (c) => c.primaryKey())
    // No foreign key: it would lock the merchant's row at every insert, and merchants are never deleted.
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('created_by', 'text', (c) => c.notNull())
    .addColumn('tx_ref', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('redirect_url', 'text', (c) => c.notNull())
    .addColumn('is_redirect_trusted', 'integer', (c) => c.notNull())
    .addColumn('metadata', 'text')
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
    .addColumn('wallet_id', 'text', (c) => c.references('wallets.id'))
    .addColumn('public_changes', 'integer', (c) => c.notNull())
    .addColumn('public_changes_since', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute();
  await schema
    .createIndex('payments_reference')
    .unique()
    .on('payments')
    .columns(['merchant_id', 'mode', 'tx_ref', 'created_by'])
    .execute();
  await schema
    .createIndex('payments_newest')
    .on('payments')
    .columns(['merchant_id', 'mode', 'created_at', 'id'])
    .execute();
  // One for each filter of the list, in the list's order. Most payments never get to a currency, and many have no email.
  await sql`create index payments_status on payments (merchant_id, mode, ${paymentStatusOf}, created_at, id)`.execute(
    db,
  );
  await sql`create index payments_customer on payments (merchant_id, mode, lower(customer_email), created_at, id)
    where customer_email is not null`.execute(db);
  for (const column of ['currency', 'network']) {
    await schema
      .createIndex(`payments_${column}`)
      .on('payments')
      .columns(['merchant_id', 'mode', column, 'created_at', 'id'])
      .where(sql.ref(column), 'is not', null)
      .execute();
  }
  await schema.createIndex('payments_expiry').on('payments').columns(['state', 'expires_at']).execute();
  // Finds the payments that a merchant's moved test clock has made overdue.
  await schema
    .createIndex('payments_test_expiry')
    .on('payments')
    .columns(['merchant_id', 'state', 'expires_at'])
    .where(sql.ref('mode'), '=', sql.lit('test'))
    .execute();

  await schema
    .createTable('log_entries')
    .addColumn('id', engine === 'sqlite' ? 'integer' : 'bigserial', (c) =>
      engine === 'sqlite' ? c.primaryKey().autoIncrement() : c.primaryKey(),
    )
    // No foreign key: rows are only written in a transaction that holds the payment's lock, so the payment exists.
    .addColumn('payment_id', 'text', (c) => c.notNull())
    .addColumn('time', 'bigint', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('event', 'text', (c) => c.notNull())
    .addColumn('code', 'text', (c) => c.notNull())
    .addColumn('entry_values', 'text', (c) => c.notNull())
    .execute();
  await schema.createIndex('log_entries_payment').on('log_entries').columns(['payment_id', 'id']).execute();

  // An address belongs to a payment or to a wallet, never to both or neither.
  await schema
    .createTable('addresses')
    .addColumn('sequence', engine === 'sqlite' ? 'integer' : 'bigserial', (c) =>
      engine === 'sqlite' ? c.primaryKey().autoIncrement() : c.primaryKey(),
    )
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('payment_id', 'text', (c) => c.references('payments.id'))
    .addColumn('wallet_id', 'text', (c) => c.references('wallets.id'))
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('source_id', 'text', (c) => c.notNull())
    .addColumn('derivation_index', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('addresses_address', ['address', 'mode'])
    .addCheckConstraint('addresses_owner', sql`(payment_id is null) <> (wallet_id is null)`)
    .execute();
  await schema
    .createIndex('addresses_payment')
    .unique()
    .on('addresses')
    .columns(['payment_id', 'currency', 'network'])
    .execute();
  await schema
    .createIndex('addresses_wallet')
    .unique()
    .on('addresses')
    .columns(['wallet_id', 'currency', 'network'])
    .execute();

  await schema
    .createTable('derivations')
    .addColumn('source_id', 'text', (c) => c.primaryKey())
    .addColumn('next_index', 'integer', (c) => c.notNull())
    .execute();

  await schema
    .createTable('receipts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('payment_id', 'text', (c) => c.notNull().references('payments.id'))
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
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
    .addColumn('credited_fee', 'text', (c) => c.notNull())
    .addColumn('naira_value', 'text')
    .addColumn('dollar_value', 'text')
    .addColumn('base_rate', 'text')
    .execute();
  await schema
    .createIndex('receipts_transfer')
    .unique()
    .on('receipts')
    .columns(['mode', 'network', 'tx_hash', 'output_index'])
    .execute();
  await schema
    .createIndex('receipts_hash')
    .on('receipts')
    .columns(['merchant_id', 'mode', 'tx_hash'])
    .execute();
  // Holds all that the sums of a payment's receipts need, so that they are read without the rows.
  await schema
    .createIndex('receipts_payment')
    .on('receipts')
    .columns(['payment_id', 'network', 'currency', 'status', 'is_credited', 'first_seen_at', 'amount'])
    .execute();
  await schema
    .createIndex('receipts_open')
    .on('receipts')
    .columns(['mode', 'network', 'status', 'block_height'])
    .execute();

  await schema
    .createTable('set_aside')
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('payment_id', 'text')
    .addColumn('arrival', 'text')
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('tries', 'integer', (c) => c.notNull())
    .addColumn('failed_at', 'bigint', (c) => c.notNull())
    .addColumn('retry_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('set_aside_key', ['mode', 'network', 'id'])
    .execute();
}
