/** Declares a table once: the SQL that creates it and the type of its rows both come from the declaration. */
import type { Mode } from '../shared/scope.js';
import type { Generated, Kysely, RawBuilder, SqlBool } from 'kysely';
import type * as z from 'zod/mini';
import type { DataPolicy } from './data-policy.js';
import { flagCodec, jsonCodec, placed, same, setCodec, unitsCodec, type Codec } from './codecs.js';

export type EpochMs = number;

interface ColumnFacts {
  /** `counter`: a primary key that the database counts up. */
  readonly type: 'text' | 'integer' | 'bigint' | 'counter';
  /** True if its value differs from the stored one. */
  readonly isCoded?: boolean;
  readonly isNullable?: boolean;
  readonly isPrimaryKey?: boolean;
  readonly isUnique?: boolean;
  readonly references?: { readonly column: string; readonly onDelete: 'cascade' | undefined };
  readonly since?: string;
}

/** A column whose rows have an `S` that stands for a `T`. Not null unless it says otherwise. */
export class Column<T, S = T> {
  /** Only a type: what a row has in this column. */
  declare readonly stored: S;
  readonly facts: ColumnFacts;
  #codec: Codec<T, S>;

  constructor(facts: ColumnFacts, codec: Codec<T, S>) {
    this.facts = facts;
    this.#codec = codec;
  }

  /** Its errors name the column from now on. @param place `table.column` */
  placeAt(place: string): void {
    this.#codec = placed(place, this.#codec);
  }

  /** @throws WrongForm if it is not what this column can have */
  read(stored: S): T {
    return this.#codec.read(stored);
  }

  write(value: T): S {
    return this.#codec.write(value);
  }

  #with(facts: Partial<ColumnFacts>): Column<T, S> {
    return new Column({ ...this.facts, ...facts }, this.#codec);
  }

  nullable(): Column<T | null, S | null> {
    const codec = this.#codec;
    return new Column<T | null, S | null>(
      { ...this.facts, isNullable: true },
      {
        read: (stored) => (stored === null ? null : codec.read(stored)),
        write: (value) => (value === null ? null : codec.write(value)),
      },
    );
  }

  primaryKey(): Column<T, S> {
    return this.#with({ isPrimaryKey: true });
  }

  unique(): Column<T, S> {
    return this.#with({ isUnique: true });
  }

  /** @param column `table.column`, of a table that is declared earlier */
  references(column: string, onDelete?: 'cascade'): Column<T, S> {
    return this.#with({ references: { column, onDelete } });
  }

  /** The migration that adds it, if that is not the one that creates the table. It must be nullable. */
  since(migration: string): Column<T, S> {
    return this.#with({ since: migration });
  }
}

const plain = <T>(facts: ColumnFacts) => new Column<T>(facts, same());

export const text = <T extends string = string>() => plain<T>({ type: 'text' });
export const integer = <T extends number = number>() => plain<T>({ type: 'integer' });
/** Read as a number, so its values must stay below 2^53. */
export const bigint = () => plain<number>({ type: 'bigint' });
export const time = () => plain<EpochMs>({ type: 'bigint' });
/** An integer of any size, in the smallest unit. */
export const units = () => new Column<bigint, string>({ type: 'text', isCoded: true }, unitsCodec);
export const flag = () => new Column<boolean, 0 | 1>({ type: 'integer', isCoded: true }, flagCodec);
export const counter = () => plain<Generated<number>>({ type: 'counter', isPrimaryKey: true });
/** Some of a few names. */
export const setOf = <Name extends string>(names: readonly Name[]) =>
  new Column<readonly Name[], number>({ type: 'integer', isCoded: true }, setCodec(names));
/** A value of a shape, as JSON. */
export const json = <T, Stored>(shape: z.ZodMiniType<T, Stored>) =>
  new Column<T, string>({ type: 'text', isCoded: true }, jsonCodec(shape));

/** The first columns of most records of a merchant. */
export const record = {
  id: text().primaryKey(),
  merchant_id: text().references('merchants.id'),
  mode: text<Mode>(),
};

/** Keyed by name. */
export type Tables = Readonly<Record<string, Table>>;

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

/** In front of a column's name: none in queries; triggers compare a row's old and new values. */
type RowName = '' | 'new.' | 'old.';
export type RowPart = (row: RowName) => string;
/** A column as a filter of a long list. */
export const rowPart =
  (column: string): RowPart =>
  (row) =>
    row + column;

/** A list that can be very long, which has checkpoints: list-checkpoints.ts. Its rows are never deleted, and created_at never changes. */
export interface LongList {
  /** The SQL of the value that each filter compares. */
  readonly filters: Readonly<Record<string, RowPart>>;
  /** The SQL of whether a row is in the list; by default it always is. */
  readonly isListed?: RowPart;
}

type Fill = (db: Kysely<unknown>) => Promise<void>;

interface TableFacts {
  /** The migration that creates it. */
  readonly since: string;
  readonly data: DataPolicy;
  readonly primaryKey: readonly string[];
  readonly checks: Readonly<Record<string, RawBuilder<SqlBool>>>;
  readonly indexes: readonly Index[];
  readonly longList?: LongList;
  readonly fills: Readonly<Record<string, Fill>>;
}

/** Names of indexes and checks are prefixed with the table's name. */
export class Table<C extends Columns = Columns> {
  readonly columns: C;
  readonly facts: TableFacts;

  constructor(columns: C, facts: TableFacts) {
    this.columns = columns;
    this.facts = facts;
  }

  /** The columns of its primary key; none if it has none. */
  get key(): readonly string[] {
    if (this.facts.primaryKey.length > 0) return this.facts.primaryKey;
    return Object.keys(this.columns).filter((name) => this.columns[name]?.facts.isPrimaryKey);
  }

  /** For a key of several columns. */
  primaryKey(...primaryKey: readonly (keyof C & string)[]): Table<C> {
    return new Table(this.columns, { ...this.facts, primaryKey });
  }

  /** The migration calls it once all of its tables are there: for rows of other tables that follow from those of this one. */
  fills(migration: string, fill: Fill): Table<C> {
    return new Table(this.columns, { ...this.facts, fills: { ...this.facts.fills, [migration]: fill } });
  }

  longList(longList: LongList): Table<C> {
    return new Table(this.columns, { ...this.facts, longList });
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
/** Indexes for queries that became slow with many payments. */
export const growingTables = '0002-growing-tables.additive';
/** Bookings by merchant and time, and the rates that value them. */
export const books = '0003-books.additive';
/** Marks of the forwarders that hold money. Builds from before do not set them, so it is not additive. */
export const unsweptForwarders = '0004-unswept-forwarders';
/** The identities of the people in the audit log, kept separately from it. */
export const auditIdentities = '0005-audit-identities.additive';
/** Marks of the coins that are not spent. Builds from before do not set them, so it is not additive. */
export const unspentCoins = '0006-unspent-coins';
/** Short payments that a shop took as paid. */
export const acceptedPayments = '0009-accepted-payments.additive';
/** The zone in which a shop's people read times. */
export const timeZones = '0012-time-zones.additive';
/** One index of the payments to review in place of one for each reason. */
export const reviewIndex = '0015-review-index.additive';
/** The addresses that customers had before. */
export const earlierEmails = '0016-earlier-emails.additive';

/** @param data the policy by which its rows are wiped and erased @param since the migration that creates it */
export function table<C extends Columns>(data: DataPolicy, columns: C, since = foundation): Table<C> {
  return new Table(columns, { since, data, primaryKey: [], checks: {}, indexes: [], fills: {} });
}

/** The long lists, by the names of their tables. */
export const longListsOf = (tables: Tables): readonly (readonly [string, LongList])[] =>
  Object.entries(tables).flatMap(([name, { facts }]) => (facts.longList ? [[name, facts.longList]] : []));

/** The TypeScript type of a table's row. */
export type Row<T> = T extends Table<infer C> ? { [K in keyof C]: C[K]['stored'] } : never;
