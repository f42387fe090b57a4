/** Hosted wallets, the deposit addresses that belong to them, and the payments that are deposits to them. */
import { sql, type Kysely } from 'kysely';

export async function wallets(db: Kysely<unknown>): Promise<void> {
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
  // One for each way to list, over what a list shows: newest first, without the deleted ones.
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

  // Of a payment or of a wallet, never of both or none.
  await schema
    .alterTable('addresses')
    .addColumn('wallet_id', 'text', (c) =>
      c.references('wallets.id').check(sql`(payment_id is null) <> (wallet_id is null)`),
    )
    .execute();
  await schema
    .createIndex('addresses_wallet')
    .unique()
    .on('addresses')
    .columns(['wallet_id', 'currency', 'network'])
    .execute();

  await schema
    .alterTable('payments')
    .addColumn('wallet_id', 'text', (c) => c.references('wallets.id'))
    .execute();
}
