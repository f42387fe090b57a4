/** Hosted wallets. */
import { sql, type Kysely } from 'kysely';

export async function createWalletTable(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('wallets')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('merchant_id', 'text', (c) => c.notNull().references('merchants.id'))
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('currency', 'text', (c) => c.notNull())
    .addColumn('label', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('deleted_at', 'bigint')
    .execute();
  // One index for each way to list wallets, newest first. Lists leave out deleted wallets.
  for (const [name, columns] of [
    ['wallets_newest', []],
    ['wallets_currency', ['currency']],
    ['wallets_label', ['label']],
  ] as const) {
    await schema
      .createIndex(name)
      .on('wallets')
      .columns(['merchant_id', 'mode', ...columns, 'created_at', 'id'])
      .where(sql.ref('deleted_at'), 'is', null)
      .execute();
  }
}
