/** The tables are declared once. The database has what they declare, also what a later migration adds. */
import {
  createQueryId,
  DummyDriver,
  Kysely,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type ColumnMetadata,
} from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { kept } from '../../src/core/db/data-policy.js';
import { createDeclared } from '../../src/core/db/create-tables.js';
import type { Database } from '../../src/core/db/database.js';
import type { Engine } from '../../src/core/db/engine.js';
import { migrate } from '../../src/core/db/migrate.js';
import { openDatabase, productTables as tables } from '../../src/database.js';
import type { Schema } from '../../src/core/db/schema.js';
import { listTables } from '../../src/core/db/tables/lists.js';
import { foundation, table, text, time, type Column, type Table } from '../../src/core/db/table.js';
import { createTriggers } from '../../src/core/db/triggers.js';
import { engines } from '../support/engines.js';

interface Definition {
  readonly definition: string;
}

/** Removes the parts that PostgreSQL writes in its own way when it is asked for a definition. */
function plain({ definition }: Definition): string {
  return definition
    .toLowerCase()
    .replaceAll(/ using btree|or replace |\bpublic\.|::text(\[\])?|--.*/g, '')
    .replaceAll(/\$\w*\$/g, '$')
    .replaceAll(/returns trigger\s+language plpgsql\s+as/g, 'returns trigger language plpgsql as')
    .replaceAll(/= any \(array\[([^\]]*)\]\)/g, 'in $1')
    .replaceAll(/["()\s]/g, '');
}

const key = (table: string, kind: string, columns: string) => `${table} ${kind} ${columns}`;

function constraintsOf(name: string, { columns, facts }: Table): string[] {
  const own = Object.entries(columns).flatMap(([column, { facts }]) => [
    ...(facts.isPrimaryKey ? [key(name, 'primary key', column)] : []),
    ...(facts.isUnique ? [key(name, 'unique', column)] : []),
    ...(facts.references
      ? [key(name, 'references', `${column} ${facts.references.column} ${facts.references.onDelete ?? ''}`)]
      : []),
  ]);
  const checks = Object.entries(facts.checks).map(([check, condition]) =>
    key(name, 'check', `${name}_${check} ${plain({ definition: condition.compile(compiler).sql })}`),
  );
  return [
    ...own,
    ...(facts.primaryKey.length > 0 ? [key(name, 'primary key', facts.primaryKey.join(', '))] : []),
    ...checks,
  ];
}

async function sqliteConstraints(reader: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ found: string }>`
    with tables as (
      select name, sql from sqlite_master
      where type = 'table' and name not like 'sqlite%' and name not like 'kysely%'
    )
    select name || ' primary key ' || group_concat(column_name, ', ') as found
    from (select tables.name, c.name as column_name from tables, pragma_table_info(tables.name) c
          where c.pk > 0 order by tables.name, c.pk)
    group by name
    union all
    select tables.name || ' unique ' || (select group_concat(name, ', ') from pragma_index_info(i.name))
    from tables, pragma_index_list(tables.name) i where i.origin = 'u'
    union all
    select tables.name || ' references ' || f."from" || ' ' || f."table" || '.' || f."to" || ' '
      || case f.on_delete when 'NO ACTION' then '' else lower(f.on_delete) end
    from tables, pragma_foreign_key_list(tables.name) f`.execute(reader);
  const created = await sql<{ name: string; sql: string }>`
    select name, sql from sqlite_master where type = 'table' and sql like '% check %'`.execute(reader);
  const checks = created.rows.flatMap(({ name, sql }) =>
    [...sql.matchAll(/constraint "(\w+)" check (\(.*?\))(?=, constraint|\)$)/g)].map(([, check, condition]) =>
      key(name, 'check', `${String(check)} ${plain({ definition: String(condition) })}`),
    ),
  );
  return [...rows.map(({ found }) => found), ...checks];
}

async function postgresConstraints(reader: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ table: string; name: string; kind: string; definition: string }>`
    select conrelid::regclass::text as table, conname as name, contype as kind, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where connamespace = current_schema()::regnamespace and contype in ('p', 'u', 'f', 'c')
      and conrelid::regclass::text not like 'kysely%'`.execute(reader);
  return rows.map(({ table, name, kind, definition }) => {
    if (kind === 'c')
      return key(table, 'check', `${name} ${plain({ definition: definition.replace('CHECK', '') })}`);
    const [, columns = '', other, otherColumn, onDelete = ''] =
      /\((.*?)\)(?: REFERENCES (\w+)\((\w+)\))?(?: ON DELETE (\w+))?/.exec(definition) ?? [];
    if (kind === 'p') return key(table, 'primary key', columns.replaceAll('"', ''));
    if (kind === 'u') return key(table, 'unique', columns);
    return key(
      table,
      'references',
      `${columns} ${String(other)}.${String(otherColumn)} ${onDelete.toLowerCase()}`,
    );
  });
}

/** Compiles SQL, and runs none. */
const compiler = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

async function statementsOf(engine: Engine): Promise<Definition[]> {
  const statements: Definition[] = [];
  const recording = compiler.withPlugin({
    transformQuery: ({ node }) => {
      statements.push({ definition: new SqliteQueryCompiler().compileQuery(node, createQueryId()).sql });
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  await createTriggers(recording, engine, tables);
  return statements;
}

it('references to rows that can be deleted are found by an index', () => {
  /** Their rows stay for good. */
  const kept = ['merchants', 'deposit_keys'];
  const unindexed = Object.entries<Table>(tables).flatMap(
    ([
      name,
      {
        columns,
        facts: { primaryKey, indexes },
      },
    ]) =>
      Object.entries(columns).flatMap(([column, { facts }]) => {
        const [parent = ''] = facts.references?.column.split('.') ?? ['merchants'];
        const isIndexed =
          facts.isPrimaryKey === true ||
          facts.isUnique === true ||
          primaryKey[0] === column ||
          indexes.some(
            ({ on, where }) =>
              on[0] === column && (!where || where.compile(compiler).sql === `${column} is not null`),
          );
        return isIndexed || kept.includes(parent) ? [] : [`${name}.${column}`];
      }),
  );
  expect(unindexed).toEqual([]);
});

const typeNames = {
  SQLite: { text: 'text', integer: 'integer', bigint: 'bigint', counter: 'integer' },
  PostgreSQL: { text: 'text', integer: 'int4', bigint: 'int8', counter: 'int8' },
};

describe.each(engines)('On $name', ({ name: engineName, create, createEmpty }) => {
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

  it('a migrated database has the keys and checks that are declared, and no others', async () => {
    await withEmptyDatabase(async ({ engine, reader }) => {
      const found = engine === 'sqlite' ? await sqliteConstraints(reader) : await postgresConstraints(reader);
      expect(found.sort()).toEqual(
        Object.entries(tables)
          .flatMap(([name, table]) => constraintsOf(name, table))
          .sort(),
      );
    });
  });

  it('a migrated database has the indexes that are declared, on the same columns and rows, and no others', async () => {
    await withEmptyDatabase(async ({ engine, reader }) => {
      const { rows } = await (
        engine === 'sqlite'
          ? sql<Definition>`select sql as definition from sqlite_master where type = 'index' and sql is not null`
          : sql<Definition>`
              select indexdef as definition from pg_indexes
              where schemaname = current_schema() and indexname not in (select conname from pg_constraint)
                and tablename not like 'kysely%'`
      ).execute(reader);
      const declared = Object.entries(tables).flatMap(([table, { facts }]) =>
        facts.indexes.map(({ name, isUnique, on, where }) => {
          const columns = on.map((part) => (typeof part === 'string' ? part : part.compile(reader).sql));
          const condition = where ? ` where ${where.compile(reader).sql}` : '';
          return `create ${isUnique ? 'unique ' : ''}index ${table}_${name} on ${table} (${columns.join(', ')})${condition}`;
        }),
      );
      expect(rows.map(plain).sort()).toEqual(declared.map((definition) => plain({ definition })).sort());
    });
  });

  it('a migrated database has the triggers that triggers.ts creates, and no others', async () => {
    await withEmptyDatabase(async ({ engine, reader }) => {
      const { rows } = await (
        engine === 'sqlite'
          ? sql<Definition>`select sql as definition from sqlite_master where type = 'trigger'`
          : sql<Definition>`
              select pg_get_triggerdef(oid) as definition from pg_trigger where not tgisinternal
              union all
              select pg_get_functiondef(oid) from pg_proc where pronamespace = current_schema()::regnamespace`
      ).execute(reader);
      expect(rows.map(plain).sort()).toEqual((await statementsOf(engine)).map(plain).sort());
    });
  });

  it.each([
    ['a column has another name', ['alter table list_checkpoints rename column row_count to count_of_rows']],
    [
      'a column is missing, and another must be filled in',
      [
        'drop table list_checkpoints',
        'create table list_checkpoints (list text not null, span text not null)',
      ],
    ],
    ['a table is missing', ['drop table list_checkpoints']],
    [
      'a column takes no null any more',
      [
        'drop table list_checkpoints',
        `create table list_checkpoints (${Object.keys(listTables.list_checkpoints.columns)
          .map((column) => `${column} text not null`)
          .join(', ')})`,
      ],
    ],
  ])('a database that another build made is refused: %s', async (_case, statements) => {
    const { url, dispose } = await create();
    const database = await openDatabase(url);
    await database.write(async (transaction) => {
      for (const statement of statements) await sql.raw(statement).execute(transaction);
    });
    await database.close();
    for (const mustExist of ['at this release', 'at any release', undefined] as const) {
      await expect(openDatabase(url, mustExist && { mustExist })).rejects.toThrow(
        'another build made it, with other columns in the table list_checkpoints. Start that build,',
      );
    }
    await dispose();
  });

  it('A schema that another server has migrated just now is not taken for that of another build', async () => {
    const { url, dispose } = await create();
    const database = await openDatabase(url);
    const { reader } = database;
    const readTables = () => reader.introspection.getTables({ withInternalKyselyTables: true });
    const before = (await readTables()).filter(({ name }) => name.startsWith('kysely'));
    const getTables = vi.fn(readTables).mockResolvedValueOnce(before);
    const read = new Proxy(reader, {
      get(target, name) {
        if (name === 'introspection') return { getTables };
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    await migrate(read, database.engine, database.tables);
    expect(getTables).toHaveBeenCalledTimes(2);
    await database.close();
    await dispose();
  });

  it('a column, an index and a table that are declared since a later migration are added by it', async () => {
    const later = '0002-shops.additive';
    const declaredTables = {
      shops: table(kept('of no merchant'), {
        id: text().primaryKey(),
        opened_at: time().nullable().since(later),
      }).index('opened', ['opened_at'], { since: later }),
      shop_doors: table(kept('of no merchant'), { shop_id: text().references('shops.id') }, later),
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
