/** The merchant's own records: customers, bank accounts and wallet addresses. */
import { sql, type Kysely, type SchemaModule } from 'kysely';

export async function createRecordTables(db: Kysely<unknown>): Promise<void> {
  await customers(db);
  await bankAccounts(db);
  await walletAddresses(db);
}

async function customers({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('customers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('email_lower', 'text', (c) => c.notNull())
    .addColumn('full_name', 'text')
    .addColumn('phone_number', 'text')
    .addColumn('is_blacklisted', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute();
  await schema
    .createIndex('customers_email')
    .unique()
    .on('customers')
    .columns(['merchant_id', 'mode', 'email_lower'])
    .execute();
  await indexList(schema, 'customers', 'newest');
  await indexList(schema, 'customers', 'blacklisted', 'is_blacklisted');
  await indexList(schema, 'customers', 'phone', 'phone_number');
}

async function bankAccounts({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('bank_accounts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('account_number', 'text', (c) => c.notNull())
    .addColumn('bank_code', 'text', (c) => c.notNull())
    .addColumn('bank_name', 'text', (c) => c.notNull())
    .addColumn('country', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('account_name', 'text', (c) => c.notNull())
    .addColumn('archived_at', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute();
  // Leaves out archived accounts, so that an account can be added again.
  await schema
    .createIndex('bank_accounts_number')
    .unique()
    .on('bank_accounts')
    .columns(['merchant_id', 'mode', 'country', 'bank_code', 'account_number', 'currency'])
    .where(sql.ref('archived_at'), 'is', null)
    .execute();
  await indexList(schema, 'bank_accounts', 'newest');
  // The primary account has its own table, so that there cannot be two.
  await schema
    .createTable('primary_bank_accounts')
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('bank_account_id', 'text', (c) => c.notNull().unique().references('bank_accounts.id'))
    .addPrimaryKeyConstraint('primary_bank_accounts_key', ['merchant_id', 'mode'])
    .execute();
}

async function walletAddresses({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('wallet_addresses')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('label', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute();
  await schema
    .createIndex('wallet_addresses_address')
    .unique()
    .on('wallet_addresses')
    .columns(['merchant_id', 'mode', 'address', 'currency', 'network'])
    .execute();
  await indexList(schema, 'wallet_addresses', 'newest');
  await indexList(schema, 'wallet_addresses', 'currency', 'currency', 'network');
  await schema
    .createTable('primary_wallet_addresses')
    .addColumn('merchant_id', 'text', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('wallet_address_id', 'text', (c) => c.notNull().unique().references('wallet_addresses.id'))
    .addPrimaryKeyConstraint('primary_wallet_addresses_key', ['merchant_id', 'mode', 'currency', 'network'])
    .execute();
}

/** Creates an index for a list that is sorted newest first and filtered by equality. */
async function indexList(
  schema: SchemaModule,
  table: string,
  name: string,
  ...filters: readonly string[]
): Promise<void> {
  await schema
    .createIndex(`${table}_${name}`)
    .on(table)
    .columns(['merchant_id', 'mode', ...filters, 'created_at', 'id'])
    .execute();
}
