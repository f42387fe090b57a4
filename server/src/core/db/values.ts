/**
 * Rows as rules have them, with decoded columns: amounts are bigints, flags booleans, JSON has its shape. Only a
 * store converts, at its edge, so the cost of a query is visible where it is written.
 */
import type { Column, Columns, Row, Table } from './table.js';

/** The values that are not null, as the other side has them. Nulls from a join or a narrower query stay. */
type Changed<To, From> = NonNullable<To> | Extract<From, null | undefined>;

type Value<C, Stored> =
  C extends Column<infer T, infer S> ? ([T] extends [S] ? Stored : Changed<T, Stored>) : Stored;
type Stored<C, Value> =
  C extends Column<infer T, infer S> ? ([T] extends [S] ? Value : Changed<S, Value>) : Value;

type Decoded<C, Read> = { [K in keyof Read]: K extends keyof C ? Value<C[K], Read[K]> : Read[K] };
type Encoded<C, Given> = { [K in keyof Given]: K extends keyof C ? Stored<C[K], Given[K]> : Given[K] };

/** A row of a table as rules have it: `Values<typeof tables.refunds>`. */
export type Values<T> = T extends Table<infer C> ? Decoded<C, Row<T>> : never;

/** Takes a row that cannot be decoded, as it is stored. */
export type Failed<Read> = (stored: Read, error: unknown) => void;

/** Converts rows of a table of the core or of a module, or parts of them. Columns of other tables stay as they are. */
export function valuesOf<C extends Columns>({ columns }: Table<C>) {
  const coded = Object.entries<Column<unknown>>(columns).filter(([, { facts }]) => facts.isCoded);
  const converted = (row: object, change: (column: Column<unknown>, value: unknown) => unknown): object => {
    const copy: Record<string, unknown> = { ...row };
    for (const [column, declared] of coded) {
      const value = copy[column];
      if (value !== undefined && value !== null) copy[column] = change(declared, value);
    }
    return copy;
  };
  // The casts are safe: each column is converted as its type says.
  const decode = <Read extends object | undefined>(row: Read) =>
    (row && converted(row, (column, stored) => column.read(stored))) as Decoded<C, Read>;
  return {
    /** A row that was not found stays undefined. */
    decode,
    /** For rows that must not stop each other: `failed` takes those that cannot be decoded, and the rest is returned. */
    decodeEach: <Read extends object>(rows: readonly Read[], failed: Failed<Read>) =>
      rows.flatMap((row) => {
        try {
          return [decode(row)];
        } catch (error) {
          failed(row, error);
          return [];
        }
      }),
    encode: <Given extends object>(row: Given) =>
      converted(row, (column, value) => column.write(value)) as Encoded<C, Given>,
  };
}
