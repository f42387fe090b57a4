/** Migrations and snapshots, which work alike on both engines. */
import { Migrator, sql, type Kysely } from 'kysely';
import type { Database, DatabaseOptions } from './database.js';
import type { Engine } from './engine.js';
import { isAdditive, migrations } from './migrations.js';
import type { Schema } from './schema.js';
import { runInTransaction } from './transaction-context.js';

/** The database does not exist, or has not the tables of this release. Only the server creates them. */
export class MissingDatabase extends Error {
  override readonly name = 'MissingDatabase';
}

/** The database has a migration that this release does not know, and that changes more than it may. */
export class NewerSchema extends Error {
  override readonly name = 'NewerSchema';

  constructor(migration: string) {
    super(
      `it was migrated by a newer release (${migration}). Start that release, or restore the backup from before the upgrade`,
    );
  }
}

/** @param mustExist checks that the tables are there, instead of creating them. @throws MissingDatabase */
export async function migrate(
  kysely: Kysely<Schema>,
  engine: Engine,
  { mustExist = false }: DatabaseOptions = {},
): Promise<void> {
  const known = migrations(engine);
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: () => Promise.resolve(known) },
  });
  const executed = new Set(await executedMigrations(kysely));
  const unknown = [...executed].filter((name) => !(name in known));
  const breaking = unknown.find((name) => !isAdditive(name));
  const isMissing = Object.keys(known).some((name) => !executed.has(name));
  if (breaking !== undefined || (mustExist && isMissing)) {
    await kysely.destroy();
    throw breaking === undefined ? new MissingDatabase() : new NewerSchema(breaking);
  }
  // The migrator would refuse a database of a newer release, even one that this release works on.
  if (!isMissing) return;
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

async function executedMigrations(kysely: Kysely<Schema>): Promise<string[]> {
  const tables = await kysely.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === 'kysely_migration')) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    kysely,
  );
  return rows.map(({ name }) => name);
}
