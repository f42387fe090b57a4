/** Reads the rows of a subquery as one JSON value, so that one query returns a record and its parts. */
import type { Expression, RawBuilder, Simplify } from 'kysely';
import { jsonArrayFrom as jsonArrayOnPostgres } from 'kysely/helpers/postgres';
import { jsonArrayFrom as jsonArrayOnSqlite } from 'kysely/helpers/sqlite';
import { type Reader, engineOf } from './engine.js';

type Rows<T> = Parameters<typeof jsonArrayOnSqlite<T>>[0];

/** The rows of a subquery as one column. Parse it with `readRows`. */
export function jsonRows<T>(reader: Reader, rows: Rows<T>): RawBuilder<Simplify<T>[]> {
  const jsonArray = engineOf(reader) === 'postgres' ? jsonArrayOnPostgres : jsonArrayOnSqlite;
  return (jsonArray as (expression: Expression<T>) => RawBuilder<Simplify<T>[]>)(rows);
}

/** Parses a `jsonRows` column: SQLite returns JSON as text; PostgreSQL's driver has already parsed it. */
export function readRows<T>(value: T[]): T[] {
  return typeof value === 'string' ? (JSON.parse(value) as T[]) : value;
}
