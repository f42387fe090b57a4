/** The tables are declared once. The database has what they declare, also what a later migration adds. */
import { sql, type ColumnMetadata, type Kysely } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createDeclared } from '../../src/db/create-tables.js';
import type { Database } from '../../src/db/database.js';
import { openDatabase } from '../../src/db/open.js';
import { tables } from '../../src/db/schema.js';
import { foundation, table, text, time, type Column } from '../../src/db/table.js';
import { engines } from '../support/engines.js';

const typeNames = {
  SQLite: { text: 'text', integer: 'integer', bigint: 'bigint', counter: 'integer' },
  PostgreSQL: { text: 'text', integer: 'int4', bigint: 'int8', counter: 'int8' },
};

describe.each(engines)('On $name', ({ name: engineName, createEmpty }) => {
  async function withEmptyDatabase(work: (database: Database) => Promise<void>): Promise<void> {
    const { url, dispose } = await createEmpty();
    const database = await openDatabase(url);
    try {
      await work(database);
    } finally {
      await database.close();
      await dispose();
    }
  }

  const found = ({ name, dataType, isNullable, isAutoIncrementing }: ColumnMetadata) =>
    `${name} ${dataType.toLowerCase()}${isNullable ? ' null' : ''}${isAutoIncrementing ? ' counted' : ''}`;
  const declared = ([name, { facts }]: [string, Column<unknown>]) => {
    // SQLite lets a text primary key be null.
    const isNullable = facts.isNullable ?? (engineName === 'SQLite' && facts.isPrimaryKey);
    const type = typeNames[engineName][facts.type];
    return `${name} ${type}${isNullable ? ' null' : ''}${facts.type === 'counter' ? ' counted' : ''}`;
  };

  it('a migrated database has the tables and columns that are declared, and no others', async () => {
    await withEmptyDatabase(async ({ reader }) => {
      const inDatabase = (await reader.introspection.getTables()).map(
        ({ name, columns }) => [name, columns.map(found).sort()] as const,
      );
      expect(Object.fromEntries(inDatabase)).toEqual(
        Object.fromEntries(
          Object.entries(tables).map(([name, { columns }]) => [
            name,
            Object.entries<Column<unknown>>(columns).map(declared).sort(),
          ]),
        ),
      );
    });
  });

  it('a migrated database has the indexes that are declared', async () => {
    await withEmptyDatabase(async ({ engine, reader }) => {
      const { rows } = await (
        engine === 'sqlite'
          ? sql<{ name: string }>`select name from sqlite_master where type = 'index' and sql is not null`
          : sql<{ name: string }>`
              select indexname as name from pg_indexes
              where schemaname = current_schema() and indexname not in (select conname from pg_constraint)
                and tablename not like 'kysely%'`
      ).execute(reader);
      const names = Object.entries(tables).flatMap(([name, { facts }]) =>
        facts.indexes.map((index) => `${name}_${index.name}`),
      );
      expect(rows.map(({ name }) => name).sort()).toEqual(names.sort());
    });
  });

  it('a column, an index and a table that are declared since a later migration are added by it', async () => {
    const later = '0002-shops.additive';
    const declaredTables = {
      shops: table({
        id: text().primaryKey(),
        opened_at: time().nullable().since(later),
      }).index('opened', ['opened_at'], { since: later }),
      shop_doors: table({ shop_id: text().references('shops.id') }, later),
    };
    await withEmptyDatabase(async ({ engine, write }) => {
      await write(async (transaction) => {
        const db = transaction as unknown as Kysely<unknown>;
        await createDeclared(db, engine, declaredTables, foundation);
        await sql`insert into shops values ('s1')`.execute(db);
        await createDeclared(db, engine, declaredTables, later);
        const { rows } = await sql`select * from shops`.execute(db);
        expect(rows).toEqual([{ id: 's1', opened_at: null }]);
        await sql`insert into shop_doors values ('s1')`.execute(db);
        await sql`drop index shops_opened`.execute(db);
      });
    });
  });
});
