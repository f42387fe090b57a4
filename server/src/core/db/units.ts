/** Sums amounts in SQL. Amounts are stored as text, because they do not fit into 64-bit integers. */
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { unitsCodec } from './codecs.js';
import { type Reader, engineOf } from './engine.js';

/**
 * The exact sum of a column of units, as integer text. Nulls count as 0.
 * @param where only the rows for which this holds; all if left out
 */
export function sumUnits(
  reader: Reader,
  column: string,
  where: RawBuilder<SqlBool> = sql<SqlBool>`1 = 1`,
): RawBuilder<string> {
  const units = sql.ref(column);
  return engineOf(reader) === 'postgres'
    ? sql<string>`coalesce(sum(${units}::numeric) filter (where ${where}), 0)::text`
    : sql<string>`add_units(
        sum(cast(${units} as integer)) filter (where length(${units}) <= ${short} and ${where}),
        sum_units(${units}) filter (where length(${units}) > ${short} and ${where}))`;
}

/** A sum that `sumUnits` made. */
export const readUnits = unitsCodec.read;

/** SQLite itself sums amounts with up to so many digits: billions of them fit into 64 bits. */
const short = sql.lit(9);
