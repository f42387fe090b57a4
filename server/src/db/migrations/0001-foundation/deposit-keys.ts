/** Where the merchants' deposit addresses come from: extended public keys and treasuries. */
import { sql, type Kysely } from 'kysely';

export async function createDepositKeyTable(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('deposit_keys')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('family', 'text', (c) => c.notNull())
    .addColumn('extended_public_key', 'text')
    .addColumn('script', 'text')
    .addColumn('treasury', 'text')
    .addColumn('source_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('replaced_at', 'bigint')
    .execute();
  await schema
    .createIndex('deposit_keys_current')
    .unique()
    .on('deposit_keys')
    .columns(['merchant_id', 'mode', 'family'])
    .where(sql.ref('replaced_at'), 'is', null)
    .execute();
}
