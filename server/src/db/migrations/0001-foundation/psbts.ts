/** Payouts by PSBT: what each spends and pays, and its versions with rising fees. */
import { sql, type Kysely } from 'kysely';

export async function createPsbtTables(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('psbts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('key_id', 'text', (c) => c.notNull().references('deposit_keys.id'))
    .addColumn('source_id', 'text', (c) => c.notNull())
    .addColumn('fingerprint', 'text')
    .addColumn('account_path', 'text')
    .addColumn('change_index', 'integer')
    .addColumn('from_height', 'bigint', (c) => c.notNull())
    .addColumn('settled_version', 'integer')
    .addColumn('confirmed_at', 'bigint')
    .addColumn('problem', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute();
  await schema.createIndex('psbts_work').on('psbts').columns(['state', 'confirmed_at']).execute();
  await schema
    .createIndex('psbts_newest')
    .on('psbts')
    .columns(['merchant_id', 'mode', 'created_at'])
    .execute();

  await schema
    .createTable('psbt_inputs')
    .addColumn('psbt_id', 'text', (c) => c.notNull().references('psbts.id'))
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('tx_hash', 'text', (c) => c.notNull())
    .addColumn('output_index', 'integer', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addColumn('branch', 'integer', (c) => c.notNull())
    .addColumn('derivation_index', 'integer', (c) => c.notNull())
    .addColumn('is_held', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('psbt_inputs_key', ['psbt_id', 'position'])
    .execute();
  // Two PSBTs that are out at the same time never spend the same coin.
  await schema
    .createIndex('psbt_inputs_held')
    .unique()
    .on('psbt_inputs')
    .columns(['mode', 'network', 'tx_hash', 'output_index'])
    .where(sql.ref('is_held'), '=', sql.lit(1))
    .execute();

  await schema
    .createTable('psbt_transfers')
    .addColumn('psbt_id', 'text', (c) => c.notNull().references('psbts.id'))
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('transfer_id', 'text', (c) => c.notNull().references('transfers.id'))
    .addColumn('is_held', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('psbt_transfers_key', ['psbt_id', 'position'])
    .execute();
  // Nor do they pay the same transfer.
  await schema
    .createIndex('psbt_transfers_held')
    .unique()
    .on('psbt_transfers')
    .columns(['transfer_id'])
    .where(sql.ref('is_held'), '=', sql.lit(1))
    .execute();
  await schema.createIndex('psbt_transfers_all').on('psbt_transfers').columns(['transfer_id']).execute();

  await schema
    .createTable('psbt_versions')
    .addColumn('psbt_id', 'text', (c) => c.notNull().references('psbts.id'))
    .addColumn('number', 'integer', (c) => c.notNull())
    .addColumn('psbt', 'text', (c) => c.notNull())
    .addColumn('fee', 'text', (c) => c.notNull())
    .addColumn('virtual_size', 'integer', (c) => c.notNull())
    .addColumn('change_amount', 'text', (c) => c.notNull())
    .addColumn('signed_transaction', 'text')
    .addColumn('tx_hash', 'text')
    .addColumn('imported_at', 'bigint')
    .addColumn('block_hash', 'text')
    .addColumn('block_height', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('psbt_versions_key', ['psbt_id', 'number'])
    .execute();
}
