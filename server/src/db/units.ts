/** Sums of amounts in SQL: amounts are integer text, since they do not fit the engines' 64-bit integers. */
import { sql, type RawBuilder } from 'kysely';
import { type Reader, engineOf } from './engine.js';

/** The exact sum of a column of units, as integer text; nulls count as nothing. */
export function sumUnits(reader: Reader, column: string): RawBuilder<string> {
  const units = sql.ref(column);
  return engineOf(reader) === 'postgres'
    ? sql<string>`coalesce(sum(${units}::numeric), 0)::text`
    : sql<string>`sum_units(${units})`;
}
