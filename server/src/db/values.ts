/**
 * Rows as rules have them, with decoded columns: amounts are bigints, flags booleans, JSON has its shape. Only a
 * store converts, at its edge, so the cost of a query is visible where it is written.
 */
import { tables, type Rows } from './schema.js';
import type { Column, Table } from './table.js';

type Tables = typeof tables;
type ColumnsOf<Name extends keyof Tables> = (typeof tables)[Name]['columns'];

/** The values that are not null, as the other side has them. Nulls from a join or a narrower query stay. */
type Changed<To, From> = NonNullable<To> | Extract<From, null | undefined>;

type Value<C, Stored> =
  C extends Column<infer T, infer S> ? ([T] extends [S] ? Stored : Changed<T, Stored>) : Stored;
type Stored<C, Value> =
  C extends Column<infer T, infer S> ? ([T] extends [S] ? Value : Changed<S, Value>) : Value;

/** A row of a table, or what was read of it. Columns of other tables stay as they are. */
export type Values<Name extends keyof Tables, Row = Rows<Tables>[Name]> = {
  [K in keyof Row]: K extends keyof ColumnsOf<Name> ? Value<ColumnsOf<Name>[K], Row[K]> : Row[K];
};
type StoredRow<Name extends keyof Tables, Row> = {
  [K in keyof Row]: K extends keyof ColumnsOf<Name> ? Stored<ColumnsOf<Name>[K], Row[K]> : Row[K];
};

/** Converts rows of a table, or parts of them. */
export function valuesOf<Name extends keyof Tables>(name: Name) {
  const { columns }: Table = tables[name];
  const coded = Object.entries(columns).filter(([, { facts }]) => facts.isCoded);
  const converted = (row: object, change: (column: Column<unknown>, value: unknown) => unknown): object => {
    const copy: Record<string, unknown> = { ...row };
    for (const [column, declared] of coded) {
      const value = copy[column];
      if (value !== undefined && value !== null) copy[column] = change(declared, value);
    }
    return copy;
  };
  // The casts are safe: each column is converted as its type says.
  return {
    /** A row that was not found stays undefined. */
    decode: <Row extends object | undefined>(row: Row) =>
      (row && converted(row, (column, stored) => column.read(stored))) as Values<Name, Row>,
    encode: <Row extends object>(row: Row) =>
      converted(row, (column, value) => column.write(value)) as StoredRow<Name, Row>,
  };
}
