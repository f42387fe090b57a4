/**
 * Counts and pages long lists without scanning them. A merchant's list is divided into segments of about a thousand rows,
 * oldest first. A checkpoint at the end of each has the numbers of its rows, for each filter and combination of filters,
 * so that a count is the sum of a column. A job adds checkpoints. When a row is inserted before a checkpoint or changes
 * what a filter compares, triggers delete the numbers of its segment, which is counted row by row until the job has
 * counted it again, so counts are always exact.
 */
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import type { Scope, Mode } from '../shared/scope.js';
import { chunksOf } from './chunks.js';
import type { Database } from './database.js';
import { tablesOf } from './query-parts.js';
import { longListsOf, type LongList } from './table.js';
import { checkpointLock } from './tables/lists.js';
import type { Reader, Transaction } from './engine.js';
import type { PageRequest } from '../shared/pagination.js';

/** The newest row of a page; without `id`, every row created at or before `createdAt`. */
type Start = { readonly createdAt: number; readonly id?: string } | undefined;

type Value = string | number | null;

/** The values that a list's rows are filtered by, by the names of its filters. */
export type ListFilter = Readonly<Record<string, string | number | undefined>>;

/** A list of a merchant, with a filter. */
interface Part {
  readonly list: string;
  readonly about: LongList;
  readonly scope: Scope;
  readonly filter: ListFilter;
}

/** The place of a row in its list. */
interface Place {
  readonly created_at: number;
  readonly id: string;
}

export const rowsPerCheckpoint = 1000;
/** The newest rows get no checkpoints, because they change most: payments are paid, and inserts commit out of order. */
const trailingRows = 1000;
const growth = rowsPerCheckpoint + trailingRows;
const beforeAll: Place = { created_at: -1, id: '' };

/**
 * Counts the rows of a list, `from` not after `to`, and locates a page of it. The cost hardly grows with the list.
 * @returns the position of its rows: skip `offset` rows from `start`, newest first, then take `limit`
 */
export async function locatePage(
  reader: Reader,
  list: string,
  scope: Scope,
  { page, skip, from, to }: PageRequest,
  filter: ListFilter = {},
): Promise<{ total: number; limit: number; offset: number; start: Start }> {
  const about = tablesOf(reader)[list]?.facts.longList;
  if (!about) throw new Error(`${list} is no long list`);
  const part = { list, about, scope, filter };
  const segments = {
    after: from === undefined ? beforeAll : await lastEnd(reader, part, from - 1),
    upTo: await lastEnd(reader, part, to),
  };
  const { total, newer } = await countRows(reader, part, { from, to }, segments);
  const offset = (page - 1) * skip;
  const limit = Math.max(0, Math.min(skip, total - offset));
  if (limit === 0 || offset < newer + rowsPerCheckpoint) {
    return { total, limit, offset, start: to === undefined ? undefined : { createdAt: to } };
  }
  const { start, above } = await segmentAt(reader, part, segments, offset - newer);
  return { total, limit, offset: offset - newer - above, start };
}

/** A `where` condition: the rows of a list's table from a page's start on. */
export function startsAt(start: Start, table: string): RawBuilder<boolean> {
  if (!start) return sql`true`;
  const { createdAt, id } = start;
  const time = sql.ref(`${table}.created_at`);
  return id === undefined
    ? sql`${time} <= ${createdAt}`
    : sql`(${time}, ${sql.ref(`${table}.id`)}) <= (${createdAt}, ${id})`;
}

function matches({ about: { filters, isListed }, filter }: Part): RawBuilder<boolean> {
  const conditions = Object.entries(filters)
    .filter(([name]) => filter[name] !== undefined)
    .map(([name, compared]) => sql`${sql.raw(compared(''))} = ${filter[name]}`);
  if (isListed) conditions.push(sql.raw(isListed('')));
  return conditions.length === 0 ? sql`true` : sql`${sql.join(conditions, sql` and `)}`;
}

/** The rows of a list: the SQL after FROM, to which conditions can be added. */
function rowsOf(part: Part): RawBuilder<unknown> {
  const { list, scope } = part;
  return sql`${sql.table(list)} where merchant_id = ${scope.merchantId} and mode = ${scope.mode}
    and ${matches(part)}`;
}

/** The checkpoints of a list, in the form of `rowsOf`. @param filter of the list; defaults to that of whole segments */
function checkpointsOf({ list, scope }: Part, filter = ''): RawBuilder<unknown> {
  return sql`list_checkpoints where list_checkpoints.list = ${list}
    and list_checkpoints.merchant_id = ${scope.merchantId} and list_checkpoints.mode = ${scope.mode}
    and list_checkpoints.filter = ${filter}`;
}

// PostgreSQL estimates how many rows a span has from the comparisons of one column only.
const isAfter = ({ created_at: time, id }: Place) =>
  sql`created_at >= ${time} and (created_at, id) > (${time}, ${id})`;
const isUpTo = ({ created_at: time, id }: Place) =>
  sql`created_at <= ${time} and (created_at, id) <= (${time}, ${id})`;

/** The stored form of a filter. */
function keyOf(values: readonly (Value | undefined)[]): string {
  return values.some((value) => value !== undefined && value !== null)
    ? JSON.stringify(values.map((value) => value ?? null))
    : '';
}

const keyOfPart = ({ about, filter }: Part) => keyOf(Object.keys(about.filters).map((name) => filter[name]));

/** A run of whole segments: the rows after one place, up to another. */
interface Segments {
  readonly after: Place;
  readonly upTo: Place;
}

/** Rows of a segment that must be counted one by one. */
const countOneByOne = (part: Part) => sql`(select count(*) from ${rowsOf(part)}
  and created_at >= list_checkpoints.after_created_at and created_at <= list_checkpoints.created_at
  and (created_at, id) > (list_checkpoints.after_created_at, list_checkpoints.after_id)
  and (created_at, id) <= (list_checkpoints.created_at, list_checkpoints.id))`;

/**
 * The segments begin before the first row and end before the last one, so rows that they lack are added, and rows in
 * excess subtracted. One statement, so that all its parts see the same moment.
 * @returns also the number of rows that are newer than the segments
 */
async function countRows(
  reader: Reader,
  part: Part,
  { from, to }: Pick<PageRequest, 'from' | 'to'>,
  { after, upTo }: Segments,
): Promise<{ readonly total: number; readonly newer: number }> {
  const rowsAfter = (place: Place, until: RawBuilder<unknown>) =>
    sql`(select count(*) from ${rowsOf(part)} and ${isAfter(place)} ${until})`;
  const sumOf = (what: RawBuilder<unknown>, checkpoints: RawBuilder<unknown>) => sql`
    (select cast(coalesce(sum(${what}), 0) as bigint) from ${checkpoints} and ${isAfter(after)} and ${isUpTo(upTo)})`;
  const { rows } = await sql<{ counted: number; changed: number; older: number; newer: number }>`select
    ${sumOf(sql`row_count`, checkpointsOf(part, keyOfPart(part)))} as counted,
    ${sumOf(countOneByOne(part), sql`${checkpointsOf(part)} and row_count is null`)} as changed,
    ${from === undefined ? sql`0` : rowsAfter(after, sql`and created_at < ${from}`)} as older,
    ${rowsAfter(upTo, to === undefined ? sql`` : sql`and created_at <= ${to}`)} as newer`.execute(reader);
  const { counted = 0, changed = 0, older = 0, newer = 0 } = rows[0] ?? {};
  return { total: counted + changed + newer - older, newer };
}

/** The position to begin at, to skip a number of rows from the newest segment on, and the number of rows before it. */
async function segmentAt(
  reader: Reader,
  part: Part,
  { after, upTo }: Segments,
  skipped: number,
): Promise<{ readonly start: Start; readonly above: number }> {
  const key = keyOfPart(part);
  const counted =
    key === ''
      ? sql`list_checkpoints.row_count`
      : sql`coalesce((select numbers.row_count from list_checkpoints as numbers
          where numbers.list = list_checkpoints.list and numbers.merchant_id = list_checkpoints.merchant_id
            and numbers.mode = list_checkpoints.mode and numbers.filter = ${key}
            and numbers.created_at = list_checkpoints.created_at and numbers.id = list_checkpoints.id), 0)`;
  const { rows } = await sql<Place & { above: number }>`
    select created_at, id, cast(above as bigint) as above from (
      select after_created_at as created_at, after_id as id,
        sum(row_count) over (order by created_at desc, id desc rows unbounded preceding) as above
      from (
        select created_at, id, after_created_at, after_id,
          case when row_count is null then ${countOneByOne(part)} else ${counted} end as row_count
        from ${checkpointsOf(part)} and ${isAfter(after)} and ${isUpTo(upTo)}) as segments) as sums
    where above <= ${skipped} order by above desc, created_at limit 1`.execute(reader);
  const { created_at: createdAt, id, above } = rows[0] ?? { ...upTo, above: 0 };
  return { start: { createdAt, id }, above };
}

/** Adds checkpoints to the lists that have grown, and counts the segments again in which something changed. */
export async function extendCheckpoints(database: Database, signal: AbortSignal): Promise<void> {
  const merchants = await database.reader.selectFrom('merchants').select('id').execute();
  for (const { id: merchantId } of merchants) {
    for (const [list, about] of longListsOf(database.tables)) {
      for (const mode of ['test', 'live'] satisfies Mode[]) {
        await extendList(database, { list, about, scope: { merchantId, mode }, filter: {} }, signal);
      }
    }
    // SQLite's calls are synchronous. This lets waiting requests run first.
    await setImmediate();
    if (signal.aborted) return;
  }
}

/** Counts one segment in each transaction: meanwhile, all that changes lists waits. */
async function extendList(database: Database, part: Part, signal: AbortSignal): Promise<void> {
  for (const end of await changedSegments(database.reader, part)) {
    if (signal.aborted) return;
    await writeAlone(database, signal, (transaction) => countAgain(transaction, part, end));
  }
  while (!signal.aborted && (await hasGrown(database.reader, part))) {
    await writeAlone(database, signal, async (transaction) =>
      addSegments(transaction, part, await lastEnd(transaction, part)),
    );
  }
}

async function hasGrown(reader: Reader, part: Part): Promise<boolean> {
  return (await rowAfter(reader, part, await lastEnd(reader, part), growth)) !== undefined;
}

/** All that changes lists queues behind a transaction that waits for its turn: so one first looks for a gap between others. */
const mostLooks = 20;
const lookMs = 20;

/**
 * Runs work in a transaction that begins once no other is changing a list, and that blocks those until it is committed, so that no
 * row is missed. If a transaction hangs, this fails with a lock timeout, and the job's next run retries.
 */
async function writeAlone(
  database: Database,
  signal: AbortSignal,
  work: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  if (database.engine === 'sqlite') return database.write(work);
  const lock = sql.lit(checkpointLock);
  for (let looks = 0; looks < mostLooks; looks += 1) {
    if (signal.aborted) return;
    const isDone = await database.write(async (transaction) => {
      const { rows } = await sql<{ taken: boolean }>`
        select pg_try_advisory_xact_lock(${lock}) as taken`.execute(transaction);
      if (rows[0]?.taken) await work(transaction);
      return rows[0]?.taken;
    });
    if (isDone) return;
    await delay(lookMs * (0.5 + Math.random()));
  }
  await database.write(async (transaction) => {
    await sql`set local lock_timeout = '500ms'`.execute(transaction);
    await sql`select pg_advisory_xact_lock(${lock})`.execute(transaction);
    await work(transaction);
  });
}

async function changedSegments(reader: Reader, part: Part): Promise<Place[]> {
  const { rows } = await sql<Place>`
    select created_at, id from ${checkpointsOf(part)} and row_count is null`.execute(reader);
  return rows;
}

/** Divides a segment too, if many rows were inserted into it. */
async function countAgain(transaction: Transaction, part: Part, end: Place): Promise<void> {
  const { list, scope } = part;
  const after = await transaction
    .deleteFrom('list_checkpoints')
    .where((e) => e.and({ list, merchant_id: scope.merchantId, mode: scope.mode, filter: '', ...end }))
    .where('row_count', 'is', null)
    .returning(['after_created_at as created_at', 'after_id as id'])
    .executeTakeFirst();
  if (after) await addSegments(transaction, part, after, end);
}

/** @param end of the last one; without it, adds one, and leaves the newest rows out */
async function addSegments(transaction: Transaction, part: Part, begin: Place, end?: Place): Promise<void> {
  let after = begin;
  for (;;) {
    const isLong = (await rowAfter(transaction, part, after, growth, end)) !== undefined;
    const upTo = isLong ? await rowAfter(transaction, part, after, rowsPerCheckpoint, end) : end;
    if (!upTo) return;
    await addSegment(transaction, part, { after, upTo });
    if (!isLong || !end) return;
    after = upTo;
  }
}

async function addSegment(transaction: Transaction, part: Part, { after, upTo }: Segments): Promise<void> {
  const { list, about, scope } = part;
  const compared = Object.values(about.filters).map((filter) => sql.raw(filter('')));
  const { rows } = await sql<Record<string, Value> & { row_count: number }>`
    select count(*) as row_count, ${sql.join(compared.map((value, index) => sql`${value} as ${sql.id(`value_${index}`)}`))}
    from ${rowsOf(part)} and ${isAfter(after)} and ${isUpTo(upTo)} group by ${sql.join(compared)}`.execute(
    transaction,
  );
  const counts = new Map([['', 0]]);
  for (const row of rows) {
    const values = compared.map((_, index) => row[`value_${index}`] ?? null);
    for (const key of new Set(combinations(values).map(keyOf))) {
      counts.set(key, (counts.get(key) ?? 0) + row.row_count);
    }
  }
  const checkpoints = [...counts].map(([filter, rowCount]) => ({
    list,
    merchant_id: scope.merchantId,
    mode: scope.mode,
    filter,
    row_count: rowCount,
    created_at: upTo.created_at,
    id: upTo.id,
    after_created_at: after.created_at,
    after_id: after.id,
  }));
  for (const chunk of chunksOf(checkpoints)) {
    await transaction.insertInto('list_checkpoints').values(chunk).execute();
  }
}

/** The values with each subset of them replaced by null. */
function combinations(values: readonly Value[]): Value[][] {
  const [first, ...others] = values;
  if (first === undefined) return [[]];
  return combinations(others).flatMap((rest) => [
    [first, ...rest],
    [null, ...rest],
  ]);
}

/** The end of the last segment. @param to leaves out those that end later */
async function lastEnd(reader: Reader, part: Part, to?: number): Promise<Place> {
  const { rows } = await sql<Place>`
    select created_at, id from ${checkpointsOf(part)} ${to === undefined ? sql`` : sql`and created_at <= ${to}`}
    order by created_at desc, id desc limit 1`.execute(reader);
  return rows[0] ?? beforeAll;
}

/** The row at a distance from a place, in rows. */
async function rowAfter(
  reader: Reader,
  part: Part,
  place: Place,
  distance: number,
  upTo?: Place,
): Promise<Place | undefined> {
  const { rows } = await sql<Place>`
    select created_at, id from ${rowsOf(part)} and ${isAfter(place)} ${upTo ? sql`and ${isUpTo(upTo)}` : sql``}
    order by created_at, id limit 1 offset ${distance - 1}`.execute(reader);
  return rows[0];
}
