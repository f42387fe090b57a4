/** Creates tables and indexes from their declarations. */
import {
  sql,
  type ColumnDataType,
  type ColumnDefinitionBuilder,
  type CreateTableBuilder,
  type Kysely,
} from 'kysely';
import type { Engine } from './engine.js';
import type { Column, Columns, Index, Table } from './table.js';

/** Creates all that the tables declare for one migration: new tables, and columns and indexes of those that are there. */
export async function createDeclared(
  db: Kysely<unknown>,
  engine: Engine,
  tables: Readonly<Record<string, Table>>,
  migration: string,
): Promise<void> {
  for (const [name, table] of Object.entries(tables)) {
    const columns = Object.entries(table.columns).filter(
      ([, { facts }]) => (facts.since ?? table.facts.since) === migration,
    );
    if (table.facts.since === migration) await createTable(db, engine, name, columns, table);
    else await addColumns(db, engine, name, columns);
    for (const index of table.facts.indexes) {
      if (index.since === migration) await createIndex(db, name, index);
    }
  }
}

type NamedColumns = readonly (readonly [string, Columns[string]])[];

async function createTable(
  { schema }: Kysely<unknown>,
  engine: Engine,
  name: string,
  columns: NamedColumns,
  { facts: { primaryKey, checks } }: Table,
): Promise<void> {
  let create: CreateTableBuilder<string, string> = schema.createTable(name);
  for (const [column, { facts }] of columns) {
    create = create.addColumn(column, typeOf(facts, engine), (builder) => build(builder, facts, engine));
  }
  for (const [check, condition] of Object.entries(checks)) {
    create = create.addCheckConstraint(`${name}_${check}`, condition);
  }
  if (primaryKey.length > 0) create = create.addPrimaryKeyConstraint(`${name}_key`, [...primaryKey]);
  await create.execute();
}

async function addColumns({ schema }: Kysely<unknown>, engine: Engine, table: string, columns: NamedColumns) {
  // SQLite adds one column with each statement.
  for (const [column, { facts }] of columns) {
    await schema
      .alterTable(table)
      .addColumn(column, typeOf(facts, engine), (builder) => build(builder, facts, engine))
      .execute();
  }
}

type Facts = Column<unknown>['facts'];

function typeOf({ type }: Facts, engine: Engine): ColumnDataType {
  if (type !== 'counter') return type;
  return engine === 'sqlite' ? 'integer' : 'bigserial';
}

function build(builder: ColumnDefinitionBuilder, facts: Facts, engine: Engine): ColumnDefinitionBuilder {
  let built = builder;
  if (facts.isPrimaryKey) built = built.primaryKey();
  else if (!facts.isNullable) built = built.notNull();
  if (facts.type === 'counter' && engine === 'sqlite') built = built.autoIncrement();
  if (facts.isUnique) built = built.unique();
  if (facts.references) {
    const { column, onDelete } = facts.references;
    built = built.references(column);
    if (onDelete) built = built.onDelete(onDelete);
  }
  return built;
}

async function createIndex(db: Kysely<unknown>, table: string, index: Index): Promise<void> {
  const { name, isUnique, on, where } = index;
  const columns = on.map((part) => (typeof part === 'string' ? sql.ref(part) : part));
  await sql`create ${sql.raw(isUnique ? 'unique index' : 'index')} ${sql.id(`${table}_${name}`)}
    on ${sql.table(table)} (${sql.join(columns)})${where ? sql` where ${where}` : sql``}`.execute(db);
}
