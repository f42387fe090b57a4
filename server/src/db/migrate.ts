/** Migrations and snapshots, which work alike on both engines. */
import { Migrator, type Kysely } from 'kysely';
import type { Database } from './database.js';
import type { Engine } from './engine.js';
import { migrations } from './migrations.js';
import type { Schema } from './schema.js';
import { runInTransaction } from './transaction-context.js';

export async function migrate(kysely: Kysely<Schema>, engine: Engine): Promise<void> {
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: () => Promise.resolve(migrations(engine)) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    await kysely.destroy();
    throw error instanceof Error ? error : new Error('The database could not be migrated', { cause: error });
  }
}

export function snapshotsOf(reader: Kysely<Schema>): Database['snapshot'] {
  return (work) =>
    reader
      .transaction()
      .setAccessMode('read only')
      .setIsolationLevel('repeatable read')
      .execute((transaction) => runInTransaction([], () => work(transaction)));
}
