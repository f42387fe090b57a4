/** Declares a table once: the SQL that creates it and the type of its rows both come from the declaration. */
import type { Mode } from '../shared/scope.js';
import type { Generated, RawBuilder, SqlBool } from 'kysely';

export type EpochMs = number;
/** An integer in the smallest unit, as text. */
export type Units = string;

interface ColumnFacts {
  /** `counter`: a primary key that the database counts up. */
  readonly type: 'text' | 'integer' | 'bigint' | 'counter';
  readonly isNullable?: boolean;
  readonly isPrimaryKey?: boolean;
  readonly isUnique?: boolean;
  readonly references?: { readonly column: string; readonly onDelete: 'cascade' | undefined };
  readonly since?: string;
}

/** A column whose values are a `T`. Not null unless it says so. */
export class Column<T> {
  /** Only a type: what a row has in this column. */
  declare readonly value: T;
  readonly facts: ColumnFacts;

  constructor(facts: ColumnFacts) {
    this.facts = facts;
  }

  nullable(): Column<T | null> {
    return new Column({ ...this.facts, isNullable: true });
  }

  primaryKey(): Column<T> {
    return new Column({ ...this.facts, isPrimaryKey: true });
  }

  unique(): Column<T> {
    return new Column({ ...this.facts, isUnique: true });
  }

  /** @param column `table.column`, of a table that is declared earlier */
  references(column: string, onDelete?: 'cascade'): Column<T> {
    return new Column({ ...this.facts, references: { column, onDelete } });
  }

  /** The migration that adds it, if that is not the one that creates the table. It must be nullable. */
  since(migration: string): Column<T> {
    return new Column({ ...this.facts, since: migration });
  }
}

export const text = <T extends string = string>() => new Column<T>({ type: 'text' });
export const integer = <T extends number = number>() => new Column<T>({ type: 'integer' });
/** Read as a number, so its values must stay below 2^53. */
export const bigint = () => new Column<number>({ type: 'bigint' });
export const time = () => new Column<EpochMs>({ type: 'bigint' });
export const units = () => new Column<Units>({ type: 'text' });
export const flag = () => integer<0 | 1>();
export const counter = () => new Column<Generated<number>>({ type: 'counter', isPrimaryKey: true });

/** What most records of a merchant begin with. */
export const record = {
  id: text().primaryKey(),
  merchant_id: text().references('merchants.id'),
  mode: text<Mode>(),
};

export type Columns = Readonly<Record<string, Column<unknown>>>;

type Expressions<C> = readonly ((keyof C & string) | RawBuilder<unknown>)[];

export interface Index {
  readonly name: string;
  readonly isUnique: boolean;
  readonly on: readonly (string | RawBuilder<unknown>)[];
  readonly where: RawBuilder<SqlBool> | undefined;
  readonly since: string;
}

interface IndexOptions {
  /** Leaves out the rows for which this does not hold. */
  readonly where?: RawBuilder<SqlBool>;
  /** The migration that adds it, if that is not the one that creates the table. */
  readonly since?: string;
}

interface TableFacts {
  /** The migration that creates it. */
  readonly since: string;
  readonly primaryKey: readonly string[];
  readonly checks: Readonly<Record<string, RawBuilder<SqlBool>>>;
  readonly indexes: readonly Index[];
}

/** Names of indexes and checks get the table's name in front. */
export class Table<C extends Columns = Columns> {
  readonly columns: C;
  readonly facts: TableFacts;

  constructor(columns: C, facts: TableFacts) {
    this.columns = columns;
    this.facts = facts;
  }

  /** For a key of several columns. */
  primaryKey(...primaryKey: readonly (keyof C & string)[]): Table<C> {
    return new Table(this.columns, { ...this.facts, primaryKey });
  }

  check(name: string, condition: RawBuilder<SqlBool>): Table<C> {
    return new Table(this.columns, {
      ...this.facts,
      checks: { ...this.facts.checks, [name]: condition },
    });
  }

  index(name: string, on: Expressions<C>, options: IndexOptions = {}): Table<C> {
    return this.#withIndex(name, false, on, options);
  }

  unique(name: string, on: Expressions<C>, options: IndexOptions = {}): Table<C> {
    return this.#withIndex(name, true, on, options);
  }

  #withIndex(name: string, isUnique: boolean, on: Expressions<C>, options: IndexOptions): Table<C> {
    const index = { name, isUnique, on, where: options.where, since: options.since ?? this.facts.since };
    return new Table(this.columns, { ...this.facts, indexes: [...this.facts.indexes, index] });
  }
}

export const foundation = '0001-foundation';
/** Indexes for what became slow with many payments. */
export const growingTables = '0002-growing-tables.additive';
/** Marks of the forwarders that hold money. Builds from before do not set them, so it is not additive. */
export const unsweptForwarders = '0003-unswept-forwarders';
/** Who the people of the audit log are, beside it. */
export const auditIdentities = '0004-audit-identities.additive';

/** @param since the migration that creates it */
export function table<C extends Columns>(columns: C, since = foundation): Table<C> {
  return new Table(columns, { since, primaryKey: [], checks: {}, indexes: [] });
}

/** What a row of a table is in TypeScript. */
export type Row<T> = T extends Table<infer C> ? { [K in keyof C]: C[K]['value'] } : never;
