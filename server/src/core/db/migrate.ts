/** Migrations and snapshots, which work the same way on both engines. */
import { Migrator, sql, type ColumnMetadata, type Kysely, type TableMetadata } from 'kysely';
import type { Database, DatabaseOptions } from './database.js';
import type { Engine } from './engine.js';
import { isAdditive, migrations } from './migrations.js';
import type { LeftTable } from './query-parts.js';
import { leftAmong } from './removed-modules.js';
import type { Schema } from './schema.js';
import type { Columns, Table, Tables } from './table.js';
import { runInTransaction } from './transaction-context.js';

/** The database does not exist, or has not the tables of this release. Only the server creates them. */
export class MissingDatabase extends Error {
  override readonly name = 'MissingDatabase';
  /** True if it has tables, of an earlier release. */
  readonly isOlder: boolean;

  constructor(isOlder = false) {
    super();
    this.isOlder = isOlder;
  }
}

/**
 * @param mustExist checks that the tables are there, instead of creating them
 * @returns the tables of removed modules
 * @throws MissingDatabase
 */
export async function migrate(
  kysely: Kysely<Schema>,
  engine: Engine,
  tables: Tables,
  mustExist?: DatabaseOptions['mustExist'],
): Promise<readonly LeftTable[]> {
  const known = migrations(engine, tables);
  const readTables = () => kysely.introspection.getTables({ withInternalKyselyTables: true });
  const found = await readTables();
  const executed = new Set(await executedMigrations(kysely, found));
  const breaking = [...executed].find((name) => !(name in known) && !isAdditive(name));
  const isMissing = Object.keys(known).some((name) => !executed.has(name));
  const isRefused =
    mustExist !== undefined && (mustExist === 'at this release' ? isMissing : executed.size === 0);
  /** A table that a migration which has run would have made: the database was made without its module. */
  const lackingTable = (all: readonly TableMetadata[]) =>
    Object.entries(tables).find(
      ([name, { facts }]) => executed.has(facts.since) && !all.some((one) => one.name === name),
    )?.[0];
  const wrongTable = (all: readonly TableMetadata[]) =>
    isMissing ? lackingTable(all) : otherTable(tables, all);
  // Read again if necessary: another server can have migrated the database between the two reads.
  const other = wrongTable(found) && wrongTable(await readTables());
  if (breaking !== undefined || isRefused || other !== undefined) {
    if (breaking !== undefined) {
      throw new Error(
        `it was migrated by a newer release (${breaking}). Start that release, or restore the backup from before the upgrade`,
      );
    }
    if (other === undefined) throw new MissingDatabase(executed.size > 0);
    // A build that was no release made it.
    throw new Error(
      isMissing
        ? `it was made without a module that this server has, and lacks the table ${other}. Remove the module, or use an empty database`
        : `another build made it, with other columns in the table ${other}. Start that build, restore a backup of this one, or use an empty database`,
    );
  }
  const left = await leftAmong(kysely, found, tables);
  // The migrator would refuse a database of a newer release, even one that this release works on.
  if (!isMissing) return left;
  // Those of a removed module too, which the migrator would refuse as missing.
  const done = Object.fromEntries([...executed].map((name) => [name, { up: () => Promise.resolve() }]));
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: () => Promise.resolve({ ...done, ...known }) },
    // A module can be added after later migrations of the core.
    allowUnorderedMigrations: true,
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return left;
  throw error instanceof Error ? error : new Error('The database could not be migrated', { cause: error });
}

export function snapshotsOf(reader: Kysely<Schema>): Database['snapshot'] {
  return async (work) => {
    const { result } = await reader
      .transaction()
      .setAccessMode('read only')
      .setIsolationLevel('repeatable read')
      .execute((transaction) => runInTransaction(transaction, work));
    return result;
  };
}

/** The name of a table that this release could not read or write. */
function otherTable(tables: Tables, found: readonly TableMetadata[]): string | undefined {
  const isThere = ([name, { columns }]: [string, Table]) =>
    found.some((one) => one.name === name && fits(one.columns, columns));
  return Object.entries(tables).find((one) => !isThere(one))?.[0];
}

/** Columns of a later migration fit too, if it is additive: a new row can leave them out. */
function fits(found: readonly ColumnMetadata[], declared: Columns): boolean {
  const isWritten = ([name, { facts }]: [string, Columns[string]]) =>
    found.some((column) => column.name === name && (column.isNullable || !facts.isNullable));
  const isLeftOut = ({ name, isNullable, hasDefaultValue }: ColumnMetadata) =>
    name in declared || isNullable || hasDefaultValue;
  return found.every(isLeftOut) && Object.entries(declared).every(isWritten);
}

async function executedMigrations(
  kysely: Kysely<Schema>,
  found: readonly TableMetadata[],
): Promise<string[]> {
  if (!found.some(({ name }) => name === 'kysely_migration')) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    kysely,
  );
  return rows.map(({ name }) => name);
}
