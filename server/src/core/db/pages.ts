/** Reads one page of a list, newest first, and the total number of rows; or every page of one, in turn. */
import { sql, type Expression, type SelectQueryBuilder, type SqlBool } from 'kysely';
import type { Page, PageRequest } from '../shared/pagination.js';
import { modes, type Scope } from '../shared/scope.js';
import { locatePage, startsAt, type ListFilter } from './list-checkpoints.js';
import type { Reader } from './engine.js';
import { countRows } from './rows.js';
import type { Schema } from './schema.js';

/** A range of creation times, inclusive, in epoch milliseconds. */
export type CreationRange = Pick<PageRequest, 'from' | 'to'>;

/**
 * A `where` condition: rows of the scope, created between `from` and `to`.
 * @param table must have the columns merchant_id, mode and created_at
 */
export function isListed(table: string, scope: Scope, range: CreationRange): Expression<SqlBool> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql<SqlBool>`${column('merchant_id')} = ${scope.merchantId} and ${column('mode')} = ${scope.mode}
    and ${isCreatedWithin(table, range)}`;
}

/** A `where` condition: rows created between `from` and `to`. @param column the time of their creation */
export function isCreatedWithin(
  table: string,
  { from, to }: CreationRange,
  column = 'created_at',
): Expression<SqlBool> {
  const createdAt = sql.ref(`${table}.${column}`);
  return sql<SqlBool>`true
    ${from === undefined ? sql`` : sql`and ${createdAt} >= ${from}`}
    ${to === undefined ? sql`` : sql`and ${createdAt} <= ${to}`}`;
}

/**
 * @param query selects the matching rows of a table with created_at and id
 * @param bound the last row to read, and the part of the list that is counted, which limits the cost of long lists
 */
export async function readPage<DB, TB extends keyof DB & string, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  table: TB,
  { page, skip }: PageRequest,
  bound?: { readonly reader: Reader; readonly mostListed: number },
): Promise<Page<O>> {
  const offset = (page - 1) * skip;
  const most = Math.max(0, Math.min(skip, (bound?.mostListed ?? Infinity) - offset));
  // One row more than asked for: if there is none, the list ends here, and is not walked again to be counted.
  const found =
    most === 0
      ? []
      : await newestFirst(query, table)
          .limit(most + 1)
          .offset(offset)
          .execute();
  const rows = found.slice(0, most);
  const isLast = most > 0 && (found.length <= most || offset + most === bound?.mostListed);
  if (isLast && (rows.length > 0 || offset === 0)) return { rows, total: offset + rows.length };
  return { rows, total: await (bound ? countWithin(query, bound) : countRows(query)) };
}

/**
 * For operators: the ids of the first rows of a list, of one merchant or of all, in both modes. Each merchant's list
 * of a mode is read separately, by its own index: none has the rows of several in one order.
 * @param list the list of a scope, without an order
 */
export async function firstOfAll<TB extends keyof Schema>(
  reader: Reader,
  merchantId: string | undefined,
  { direction, limit }: { readonly direction: 'asc' | 'desc'; readonly limit: number },
  list: (scope: Scope) => SelectQueryBuilder<Schema, TB, { id: string; created_at: number }>,
): Promise<string[]> {
  const merchants =
    merchantId === undefined
      ? (await reader.selectFrom('merchants').select('id').execute()).map(({ id }) => id)
      : [merchantId];
  const found: { readonly id: string; readonly created_at: number }[] = [];
  for (const merchant of merchants) {
    for (const mode of modes) {
      const rows = await list({ merchantId: merchant, mode })
        .orderBy(sql.ref('created_at'), direction)
        .orderBy(sql.ref('id'), direction)
        .limit(limit)
        .execute();
      found.push(...(rows as typeof found));
    }
  }
  const sign = direction === 'asc' ? 1 : -1;
  found.sort((a, b) => sign * (a.created_at - b.created_at || (a.id < b.id ? -1 : 1)));
  return found.slice(0, limit).map(({ id }) => id);
}

/** The number of rows that a query has, counted up to a bound. */
export async function countWithin<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  { reader, mostListed }: { readonly reader: Reader; readonly mostListed: number },
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from (${query.limit(mostListed)}) as listed`.execute(reader);
  return rows[0]?.total ?? 0;
}

/**
 * Reads a page of a list that may be long, and therefore has checkpoints.
 * @param query must select exactly the rows of the list that the filter selects
 */
export async function readCheckpointedPage<TB extends keyof Schema, O>(
  reader: Reader,
  query: SelectQueryBuilder<Schema, TB, O>,
  list: TB,
  scope: Scope,
  request: PageRequest,
  filter: ListFilter = {},
): Promise<Page<O>> {
  const { total, limit, offset, start } = await locatePage(reader, list, scope, request, filter);
  if (limit === 0) return { rows: [], total };
  const id = sql.ref<string>(`${list}.id`);
  // The subquery finds the page's ids in only the index, so that skipped rows are never read.
  const ids = newestFirst(query.where(startsAt(start, list)), list)
    .clearSelect()
    .select(id.as('id'))
    .limit(limit)
    .offset(offset);
  // Only by id: with the list's conditions too, SQLite would walk the whole list and compare each row with the ids.
  const page = query.clearWhere().where(sql<SqlBool>`${id} in (${ids})`);
  const rows = await newestFirst(page, list).execute();
  return { rows, total };
}

function newestFirst<DB, TB extends keyof DB & string, O>(query: SelectQueryBuilder<DB, TB, O>, table: TB) {
  return query.orderBy(sql.ref(`${table}.created_at`), 'desc').orderBy(sql.ref(`${table}.id`), 'desc');
}

/**
 * Reads a whole list, however long, page by page.
 * @param size of a full page: a shorter one is the last
 * @param read the page after a row, or the first one
 */
export async function* everyPage<Row>(
  size: number,
  read: (after: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let page: Row[] = [];
  do {
    page = await read(page.at(-1));
    if (page.length > 0) yield page;
  } while (page.length >= size);
}

/** Reads every row of a query page by page, in the order of the ids. @param column the ids, where a join has several */
export function everyPageById<DB, TB extends keyof DB, Row extends { readonly id: string }>(
  query: SelectQueryBuilder<DB, TB, Row>,
  column = 'id',
): AsyncGenerator<Row[]> {
  const id = sql.ref(column);
  const size = 500;
  return everyPage(size, (last) =>
    query
      .where(sql<SqlBool>`${id} > ${last?.id ?? ''}`)
      .orderBy(id)
      .limit(size)
      .execute(),
  );
}
