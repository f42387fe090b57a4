/** How far each network was scanned, and the simulated networks. */
import type { Kysely } from 'kysely';

export async function createChainTables(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('chain_cursors')
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('height', 'bigint', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('head_height', 'bigint', (c) => c.notNull())
    .addColumn('first_height', 'bigint', (c) => c.notNull())
    .addColumn('synced_at', 'bigint', (c) => c.notNull())
    .addColumn('problem', 'text')
    .addColumn('lease_holder', 'text')
    .addColumn('lease_until', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('chain_cursors_key', ['mode', 'network'])
    .execute();

  await schema
    .createTable('scanned_blocks')
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('height', 'bigint', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('scanned_blocks_key', ['mode', 'network', 'height'])
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
    .addColumn('merchant_id', 'text')
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
    .columns(['network', 'block_height', 'sent_at'])
    .execute();
}
