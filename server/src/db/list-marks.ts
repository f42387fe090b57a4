/**
 * Counts and pages long lists without walking them: every thousandth row of a merchant's list has a mark with its
 * ordinal, so that a count or a page starts from the nearest mark. Marks are made by a job. A row that comes among
 * marked ones, or leaves them, takes the marks after it away (triggers of the table), so what is counted is always exact.
 */
import { setImmediate } from 'node:timers/promises';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Scope } from '../scope.js';
import type { Database, Reader, Transaction } from './database.js';
import type { PageRequest } from './pages.js';
import { engineOf } from './prepared.js';
import type { ListMarkTable, MarkedList, Mode } from './schema.js';

/** Where the rows of a page are: `limit` of them, newest first, after `offset` rows from `start` on. */
export interface ListPage {
  /** How many rows match. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  /** The newest row to look at; `created_at` alone where no row's id is known. */
  readonly start: { readonly createdAt: number; readonly id?: string } | undefined;
}

/** The rows of each list, in an index on merchant_id, mode, the condition's column, created_at and id. */
const lists: Readonly<
  Record<MarkedList, { readonly table: string; readonly condition: RawBuilder<SqlBool> }>
> = {
  payments: { table: 'payments', condition: sql`true` },
  customers: { table: 'customers', condition: sql`true` },
  'customers.allowed': { table: 'customers', condition: sql`is_blacklisted = 0` },
  'customers.blacklisted': { table: 'customers', condition: sql`is_blacklisted = 1` },
  subscribers: { table: 'subscribers', condition: sql`removed_at is null` },
  'subscribers.active': { table: 'subscribers', condition: sql`removed_at is null and is_active = 1` },
  'subscribers.inactive': { table: 'subscribers', condition: sql`removed_at is null and is_active = 0` },
  transfers: { table: 'transfers', condition: sql`true` },
};

type Mark = Pick<ListMarkTable, 'created_at' | 'id' | 'ordinal'>;

export const rowsPerMark = 1000;
/** The newest rows stay without marks: rows that are inserted at the same time may commit in another order. */
const unmarkedRows = 1000;
const marksPerTransaction = 50;
const beforeAll: Mark = { created_at: -1, id: '', ordinal: 0 };

/** Counts the rows of a list and finds a page of it, at a cost that does not grow with the list. */
export async function locatePage(
  reader: Reader,
  list: MarkedList,
  scope: Scope,
  { page, skip, from, to }: PageRequest,
): Promise<ListPage> {
  const upTo = to ?? Number.MAX_SAFE_INTEGER;
  const highest = await countUpTo(reader, list, scope, upTo);
  const lowest = from === undefined ? 0 : await countUpTo(reader, list, scope, from - 1);
  const total = Math.max(0, highest - lowest);
  const offset = (page - 1) * skip;
  const limit = Math.max(0, Math.min(skip, total - offset));
  const top = to === undefined ? undefined : { createdAt: to };
  if (limit === 0 || offset < rowsPerMark) return { total, limit, offset, start: top };

  const first = highest - offset;
  const mark = await ofList(reader, list, scope)
    .where('ordinal', '>=', first)
    .orderBy('ordinal')
    .limit(1)
    .executeTakeFirst();
  if (!mark || mark.ordinal >= highest) return { total, limit, offset, start: top };
  return {
    total,
    limit,
    offset: mark.ordinal - first,
    start: { createdAt: mark.created_at, id: mark.id },
  };
}

/** For `where`: the rows of a list's table from a page's start on. */
export function startsAt(start: ListPage['start'], table: string): RawBuilder<SqlBool> {
  if (!start) return sql`true`;
  const { createdAt, id } = start;
  const time = sql.ref(`${table}.created_at`);
  return id === undefined
    ? sql`${time} <= ${createdAt}`
    : sql`(${time}, ${sql.ref(`${table}.id`)}) <= (${createdAt}, ${id})`;
}

/** Adds the marks that lists have grown for since the last time. */
export async function extendMarks(database: Database, signal: AbortSignal): Promise<void> {
  const merchants = await database.reader.selectFrom('merchants').select('id').execute();
  for (const { id: merchantId } of merchants) {
    for (const list of Object.keys(lists) as MarkedList[]) {
      for (const mode of ['test', 'live'] satisfies Mode[]) {
        const scope = { merchantId, mode };
        while (!signal.aborted && (await hasGrown(database.reader, list, scope))) {
          await database.write((transaction) => addMarks(transaction, list, scope));
        }
      }
    }
    // SQLite answers without a turn of the event loop: requests come first.
    await setImmediate();
    if (signal.aborted) return;
  }
}

async function hasGrown(reader: Reader, list: MarkedList, scope: Scope): Promise<boolean> {
  return (await rowAfter(reader, list, scope, await lastMark(reader, list, scope), growth)) !== undefined;
}

const growth = rowsPerMark + unmarkedRows;

async function addMarks(transaction: Transaction, list: MarkedList, scope: Scope): Promise<void> {
  if (engineOf(transaction) === 'postgres') {
    // Waits for every insertion under way, since its trigger has touched the marks, and holds new ones up until
    // the marks are in: no row can slip in unseen. A transaction that hangs makes this fail, and it is tried again.
    await sql`set local lock_timeout = '500ms'`.execute(transaction);
    await sql`lock table list_marks in share row exclusive mode`.execute(transaction);
  }
  let last = await lastMark(transaction, list, scope);
  for (let added = 0; added < marksPerTransaction; added += 1) {
    const next = await rowAfter(transaction, list, scope, last, rowsPerMark);
    if (!next || !(await rowAfter(transaction, list, scope, last, growth))) return;
    last = { ...next, ordinal: last.ordinal + rowsPerMark };
    await transaction
      .insertInto('list_marks')
      .values({ list, merchant_id: scope.merchantId, mode: scope.mode, ...last })
      .execute();
  }
}

const ofList = (reader: Reader, list: MarkedList, { merchantId, mode }: Scope) =>
  reader
    .selectFrom('list_marks')
    .select(['created_at', 'id', 'ordinal'])
    .where('list', '=', list)
    .where('merchant_id', '=', merchantId)
    .where('mode', '=', mode);

async function lastMark(
  reader: Reader,
  list: MarkedList,
  scope: Scope,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<Mark> {
  const mark = await ofList(reader, list, scope)
    .where('created_at', '<=', upTo)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return mark ?? beforeAll;
}

/** How many rows of the list were created up to a time. */
async function countUpTo(reader: Reader, list: MarkedList, scope: Scope, upTo: number): Promise<number> {
  const mark = await lastMark(reader, list, scope, upTo);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${rowsFrom(list, scope, mark)} and created_at <= ${upTo}`.execute(reader);
  return mark.ordinal + (rows[0]?.count ?? 0);
}

/** The row so many rows after a mark. */
async function rowAfter(
  reader: Reader,
  list: MarkedList,
  scope: Scope,
  mark: Mark,
  distance: number,
): Promise<Pick<Mark, 'created_at' | 'id'> | undefined> {
  const { rows } = await sql<Pick<Mark, 'created_at' | 'id'>>`
    select created_at, id from ${rowsFrom(list, scope, mark)}
    order by created_at, id limit 1 offset ${distance - 1}`.execute(reader);
  return rows[0];
}

/** The rows after a mark, all in one range of the list's index. */
function rowsFrom(list: MarkedList, { merchantId, mode }: Scope, mark: Mark): RawBuilder<unknown> {
  const { table, condition } = lists[list];
  return sql`${sql.table(table)} where merchant_id = ${merchantId} and mode = ${mode} and ${condition}
    and (created_at, id) > (${mark.created_at}, ${mark.id})`;
}
