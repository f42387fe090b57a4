/** Migrations and snapshots, which work alike on both engines. */
import { Migrator, type Kysely } from 'kysely';
import type { Database, DatabaseOptions } from './database.js';
import type { Engine } from './engine.js';
import { migrations } from './migrations.js';
import type { Schema } from './schema.js';
import { runInTransaction } from './transaction-context.js';

/** The database does not exist, or has not the tables of this release. Only the server creates them. */
export class MissingDatabase extends Error {
  override readonly name = 'MissingDatabase';
}

/** @param mustExist checks that the tables are there, instead of creating them. @throws MissingDatabase */
export async function migrate(
  kysely: Kysely<Schema>,
  engine: Engine,
  { mustExist = false }: DatabaseOptions = {},
): Promise<void> {
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: () => Promise.resolve(migrations(engine)) },
  });
  if (mustExist) {
    const missing = (await migrator.getMigrations()).filter(({ executedAt }) => executedAt === undefined);
    if (missing.length === 0) return;
    await kysely.destroy();
    throw new MissingDatabase();
  }
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
