/** Migrations and snapshots, which work alike on both engines. */
import { Migrator, sql, type Kysely } from 'kysely';
import type { Database, DatabaseOptions } from './database.js';
import type { Engine } from './engine.js';
import { migrations } from './migrations.js';
import type { Schema } from './schema.js';
import { runInTransaction } from './transaction-context.js';

/** The database does not exist, or has not the tables of this release. Only the server creates them. */
export class MissingDatabase extends Error {
  override readonly name = 'MissingDatabase';
}

/** The database has a migration that this release does not know. */
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
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: () => Promise.resolve(migrations(engine)) },
  });
  if (mustExist) {
    const missing = (await migrator.getMigrations()).some(({ executedAt }) => executedAt === undefined);
    const unknown = missing ? undefined : await findUnknownMigration(kysely, engine);
    if (!missing && unknown === undefined) return;
    await kysely.destroy();
    throw unknown === undefined ? new MissingDatabase() : new NewerSchema(unknown);
  }
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const unknown = await findUnknownMigration(kysely, engine).catch(() => undefined);
    await kysely.destroy();
    if (unknown !== undefined) throw new NewerSchema(unknown);
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

async function findUnknownMigration(kysely: Kysely<Schema>, engine: Engine): Promise<string | undefined> {
  const known = migrations(engine);
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    kysely,
  );
  return rows.map(({ name }) => name).find((name) => !(name in known));
}
