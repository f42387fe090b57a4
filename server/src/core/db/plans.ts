/** Keeps SQLite from choosing an index that reads all rows ever written. It has no statistics, and guesses. */
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely';
import { engineOf, type Reader } from './engine.js';

/**
 * A column that no index is chosen for. SQLite has a sign for it (https://sqlite.org/optoverview.html#uplus); PostgreSQL has
 * statistics, and would refuse the sign.
 */
export function withoutIndex<T>(reader: Reader, column: string): RawBuilder<T> {
  return engineOf(reader) === 'sqlite' ? sql<T>`+${sql.ref(column)}` : sql.ref<T>(column);
}

/**
 * A `where` condition on columns whose values most rows share: no index is chosen for it. If there is also a list of
 * addresses or an id, SQLite would otherwise choose an index that begins with the mode and the network, and read
 * every row of the network: it assumes that two equal columns leave nine rows, and that a list leaves as many for each
 * of its values.
 */
export function filtersBy(
  reader: Reader,
  values: Readonly<Record<string, string | number>>,
): Expression<SqlBool> {
  const conditions = Object.entries(values).map(
    ([column, value]) => sql`${withoutIndex(reader, column)} = ${value}`,
  );
  return sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}
