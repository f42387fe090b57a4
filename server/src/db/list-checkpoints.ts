/**
 * Counts and pages long lists without scanning them. Every thousandth row of a merchant's list has a checkpoint with its
 * ordinal, so that a count or a page starts at the nearest checkpoint. A job adds checkpoints. When a row is inserted
 * before a checkpoint or leaves the list, triggers delete the checkpoints after it, so counts are always exact.
 */
import { setImmediate } from 'node:timers/promises';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Scope, Mode } from '../shared/scope.js';
import { checkpointLock } from './checkpoint-lock.js';
import type { Database } from './database.js';
import type { ListCheckpointTable } from './schema.js';
import type { CheckpointedList } from './tables/lists.js';
import { type Transaction, type Reader, engineOf } from './engine.js';
import type { PageRequest } from '../shared/pagination.js';

/** Where the rows of a page are: skip `offset` rows from `start`, newest first, then take `limit`. */
export interface ListPage {
  /** The number of matching rows. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  /** The newest row to read; without `id`, every row created at or before `createdAt`. */
  readonly start: { readonly createdAt: number; readonly id?: string } | undefined;
}

/** Each list's table and condition. An index covers merchant_id, mode, the condition's columns, created_at and id. */
const lists: Readonly<
  Record<CheckpointedList, { readonly table: string; readonly condition: RawBuilder<SqlBool> }>
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

type Checkpoint = Pick<ListCheckpointTable, 'created_at' | 'id' | 'ordinal'>;

export const rowsPerCheckpoint = 1000;
/** The newest rows get no checkpoints, because concurrent inserts may commit out of order and would delete them. */
const trailingRows = 1000;
const checkpointsPerTransaction = 50;
const beforeAll: Checkpoint = { created_at: -1, id: '', ordinal: 0 };

/** Counts the rows of a list and locates a page of it. The cost does not grow with the list. */
export async function locatePage(
  reader: Reader,
  list: CheckpointedList,
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
  if (limit === 0 || offset < rowsPerCheckpoint) return { total, limit, offset, start: top };

  const first = highest - offset;
  const checkpoint = await ofList(reader, list, scope)
    .where('ordinal', '>=', first)
    .orderBy('ordinal')
    .limit(1)
    .executeTakeFirst();
  if (!checkpoint || checkpoint.ordinal >= highest) return { total, limit, offset, start: top };
  return {
    total,
    limit,
    offset: checkpoint.ordinal - first,
    start: { createdAt: checkpoint.created_at, id: checkpoint.id },
  };
}

/** A `where` condition: the rows of a list's table from a page's start on. */
export function startsAt(start: ListPage['start'], table: string): RawBuilder<SqlBool> {
  if (!start) return sql`true`;
  const { createdAt, id } = start;
  const time = sql.ref(`${table}.created_at`);
  return id === undefined
    ? sql`${time} <= ${createdAt}`
    : sql`(${time}, ${sql.ref(`${table}.id`)}) <= (${createdAt}, ${id})`;
}

/** Adds checkpoints to the lists that have grown. */
export async function extendCheckpoints(database: Database, signal: AbortSignal): Promise<void> {
  const merchants = await database.reader.selectFrom('merchants').select('id').execute();
  for (const { id: merchantId } of merchants) {
    for (const list of Object.keys(lists) as CheckpointedList[]) {
      for (const mode of ['test', 'live'] satisfies Mode[]) {
        const scope = { merchantId, mode };
        while (!signal.aborted && (await hasGrown(database.reader, list, scope))) {
          await database.write((transaction) => addCheckpoints(transaction, list, scope));
        }
      }
    }
    // SQLite's calls are synchronous. This lets waiting requests run first.
    await setImmediate();
    if (signal.aborted) return;
  }
}

async function hasGrown(reader: Reader, list: CheckpointedList, scope: Scope): Promise<boolean> {
  return (
    (await rowAfter(reader, list, scope, await lastCheckpoint(reader, list, scope), growth)) !== undefined
  );
}

const growth = rowsPerCheckpoint + trailingRows;

async function addCheckpoints(transaction: Transaction, list: CheckpointedList, scope: Scope): Promise<void> {
  if (engineOf(transaction) === 'postgres') {
    // Waits for the transactions that are changing a list, and blocks new ones until the checkpoints are committed, so
    // that no row is missed. If a transaction hangs, this fails with a lock timeout, and the job's next run retries.
    await sql`set local lock_timeout = '500ms'`.execute(transaction);
    await sql`select pg_advisory_xact_lock(${sql.lit(checkpointLock)})`.execute(transaction);
  }
  let last = await lastCheckpoint(transaction, list, scope);
  for (let added = 0; added < checkpointsPerTransaction; added += 1) {
    const next = await rowAfter(transaction, list, scope, last, rowsPerCheckpoint);
    if (!next || !(await rowAfter(transaction, list, scope, last, growth))) return;
    last = { ...next, ordinal: last.ordinal + rowsPerCheckpoint };
    await transaction
      .insertInto('list_checkpoints')
      .values({ list, merchant_id: scope.merchantId, mode: scope.mode, ...last })
      .execute();
  }
}

const ofList = (reader: Reader, list: CheckpointedList, { merchantId, mode }: Scope) =>
  reader
    .selectFrom('list_checkpoints')
    .select(['created_at', 'id', 'ordinal'])
    .where('list', '=', list)
    .where('merchant_id', '=', merchantId)
    .where('mode', '=', mode);

async function lastCheckpoint(
  reader: Reader,
  list: CheckpointedList,
  scope: Scope,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<Checkpoint> {
  const checkpoint = await ofList(reader, list, scope)
    .where('created_at', '<=', upTo)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return checkpoint ?? beforeAll;
}

/** How many rows of the list were created up to a time. */
async function countUpTo(
  reader: Reader,
  list: CheckpointedList,
  scope: Scope,
  upTo: number,
): Promise<number> {
  const checkpoint = await lastCheckpoint(reader, list, scope, upTo);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${rowsFrom(list, scope, checkpoint)} and created_at <= ${upTo}`.execute(
    reader,
  );
  return checkpoint.ordinal + (rows[0]?.count ?? 0);
}

/** The row at a distance from a checkpoint, in rows. */
async function rowAfter(
  reader: Reader,
  list: CheckpointedList,
  scope: Scope,
  checkpoint: Checkpoint,
  distance: number,
): Promise<Pick<Checkpoint, 'created_at' | 'id'> | undefined> {
  const { rows } = await sql<Pick<Checkpoint, 'created_at' | 'id'>>`
    select created_at, id from ${rowsFrom(list, scope, checkpoint)}
    order by created_at, id limit 1 offset ${distance - 1}`.execute(reader);
  return rows[0];
}

/** The rows after a checkpoint: one range of the list's index. */
function rowsFrom(
  list: CheckpointedList,
  { merchantId, mode }: Scope,
  checkpoint: Checkpoint,
): RawBuilder<unknown> {
  const { table, condition } = lists[list];
  return sql`${sql.table(table)} where merchant_id = ${merchantId} and mode = ${mode} and ${condition}
    and (created_at, id) > (${checkpoint.created_at}, ${checkpoint.id})`;
}
