/** The double-entry ledger. */
import type { Kysely } from 'kysely';

export async function createLedgerTables(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;

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
    .createIndex('ledger_postings_payment')
    .on('ledger_postings')
    .columns(['payment_id'])
    .where('payment_id', 'is not', null)
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
}
