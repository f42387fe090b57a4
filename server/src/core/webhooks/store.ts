/** Storage of webhook endpoints, events and delivery attempts. */
import type { WebhookEventType } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import { jsonRows, readRows } from '../db/json.js';
import { forUpdate, forUpdateSkipLocked } from '../db/locks.js';
import { chunksOf } from '../db/chunks.js';
import { firstOfAll, isCreatedWithin, isListed, readPage, type CreationRange } from '../db/pages.js';
import type { OutboxTable, WebhookEndpointTable, WebhookTryTable } from '../db/schema.js';
import type { WebhookStatus } from '../db/tables/webhooks.js';
import type { PageRequest } from '../shared/pagination.js';
import type { Mode, Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import { filledUp, prepared, preparedIn, preparedInserts, preparedSend } from '../db/prepared.js';
import { send } from '../db/send.js';
import { countRows, hasRows, having, inScope, rowById, updateRow } from '../db/rows.js';

const endpointsOf = (reader: Reader, scope: Scope) =>
  reader.selectFrom('webhook_endpoints').selectAll().$call(inScope(scope));

const endpointOf = prepared((reader, scope: Scope) => endpointsOf(reader, scope));

export async function findEndpoint(
  reader: Reader,
  { merchantId, mode }: Scope,
): Promise<WebhookEndpointTable | undefined> {
  const [endpoint] = await endpointOf(reader, { merchantId, mode });
  return endpoint;
}

/** Like `findEndpoint`, and locks the row until the transaction ends. */
export function lockEndpoint(transaction: Transaction, scope: Scope) {
  return endpointsOf(transaction, scope).$call(forUpdate(transaction)).executeTakeFirst();
}

export function listEndpoints(reader: Reader): Promise<WebhookEndpointTable[]> {
  return reader.selectFrom('webhook_endpoints').selectAll().execute();
}

export async function putEndpoint(transaction: Transaction, row: WebhookEndpointTable): Promise<void> {
  const { merchant_id: _merchant, mode: _mode, ...changes } = row;
  await transaction
    .insertInto('webhook_endpoints')
    .values(row)
    .onConflict((conflict) => conflict.columns(['merchant_id', 'mode']).doUpdateSet(changes))
    .execute();
}

export async function deleteEndpoint(transaction: Transaction, { merchantId, mode }: Scope): Promise<void> {
  await transaction
    .deleteFrom('webhook_endpoints')
    .where((e) => e.and({ merchant_id: merchantId, mode }))
    .execute();
}

/** The newest event of a subject. */
export function findNewest(reader: Reader, subjectId: string): Promise<OutboxTable | undefined> {
  return reader
    .selectFrom('outbox')
    .selectAll()
    .where('subject_id', '=', subjectId)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
}

const sequenceOf = prepared((reader, { subjectId }: { readonly subjectId: string }) =>
  reader
    .selectFrom('outbox')
    .select('sequence')
    .where('subject_id', '=', subjectId)
    .orderBy('sequence', 'desc')
    .limit(sql.lit(1)),
);

/** The number of the newest event of a subject; 0 if there is none. */
export async function lastSequence(transaction: Transaction, subjectId: string): Promise<number> {
  const [newest] = await sequenceOf(transaction, { subjectId });
  return newest?.sequence ?? 0;
}

export const insertEvent = preparedSend((transaction, row: OutboxTable) =>
  transaction.insertInto('outbox').values(row),
);

export function findEvent(reader: Reader, id: string): Promise<OutboxTable | undefined> {
  return rowById(reader, 'outbox', id).executeTakeFirst();
}

/** Makes an event due, with a fresh retry schedule. The outcome of an attempt that is still running no longer counts. */
export function makeDue(transaction: Transaction, id: string, now: number): Promise<void> {
  return updateEvent(transaction, id, { ...asNew, due_at: now });
}

const asNew = { status: 'pending', tries: 0, claim: null, claimed_until: null } as const;

const updateEvent = updateRow('outbox');

/** Changes an event only while its claim still holds it. */
export async function updateClaimed(
  transaction: Transaction,
  { id, claim }: OutboxTable,
  changes: Partial<OutboxTable>,
): Promise<void> {
  await transaction
    .updateTable('outbox')
    .set(changes)
    .where((e) => e.and({ id, claim }))
    .execute();
}

/** Marks all pending events of a merchant's mode as failed. */
export async function failPending(transaction: Transaction, { merchantId, mode }: Scope): Promise<void> {
  await send(
    transaction,
    transaction
      .updateTable('outbox')
      .set({ status: 'failed', due_at: null, claim: null, claimed_until: null })
      .where((e) => e.and({ merchant_id: merchantId, mode }))
      .where('due_at', 'is not', null),
  );
}

/**
 * The merchants with pending events, each with the due time of the earliest. It skips through the index from merchant to
 * merchant, so a merchant with a million pending events costs no more than one with a single event.
 */
export const waitingMerchants = (reader: Reader, mode: Mode) => findWaiting(reader, { mode });

const findWaiting = prepared((reader, { mode }: { readonly mode: Mode }) => {
  const query = sql<{ merchantId: string; dueAt: number }>`
    with recursive waiting (merchant_id) as (
      select min(merchant_id) from outbox where mode = ${mode} and due_at is not null
      union all
      select (
        select min(merchant_id) from outbox
        where mode = ${mode} and due_at is not null and merchant_id > waiting.merchant_id
      )
      from waiting where merchant_id is not null
    )
    select merchant_id as "merchantId", (
      select min(due_at) from outbox
      where mode = ${mode} and due_at is not null and merchant_id = waiting.merchant_id
    ) as "dueAt"
    from waiting where merchant_id is not null`;
  return { compile: () => query.compile(reader) };
});

export const countWaiting = (reader: Reader): Promise<number> =>
  countRows(reader.selectFrom('outbox').where('due_at', 'is not', null));

/**
 * Claims due events that no process has claimed, the longest overdue first.
 * @param now time by the merchant's clock; claims expire by real time
 */
export async function claimDue(
  transaction: Transaction,
  { merchantId, mode }: Scope,
  now: number,
  realNow: number,
  limit: number,
  { claim, claimed_until }: Claim,
): Promise<OutboxTable[]> {
  const due = await findDue(transaction, { merchantId, mode, now, realNow, limit });
  const ids = due.map(({ id }) => id);
  return claimAll(transaction, ids, { claim, claimed_until });
}

type Claim = Pick<OutboxTable, 'claim' | 'claimed_until'>;

interface DueValues extends Scope {
  readonly now: number;
  readonly realNow: number;
  readonly limit: number;
}

const findDue = prepared((transaction, { merchantId, mode, now, realNow, limit }: DueValues) =>
  transaction
    .selectFrom('outbox')
    .select('id')
    .where((e) => e.and({ mode, merchant_id: merchantId }))
    .where('due_at', '<=', now)
    .where((e) => e.or([e('claimed_until', 'is', null), e('claimed_until', '<=', realNow)]))
    .orderBy('due_at')
    .limit(limit)
    .$call(forUpdateSkipLocked(transaction)),
);

const claimAll = preparedIn((transaction, ids, { claim, claimed_until }: Claim) =>
  transaction.updateTable('outbox').set({ claim, claimed_until }).where('id', 'in', ids).returningAll(),
);

/** Extends the claims of deliveries that are still running. Claims that another process has taken since stay its own. */
export async function extendClaims(
  transaction: Transaction,
  events: readonly OutboxTable[],
  until: number,
): Promise<void> {
  const claims = filledUp(events.map(({ id, claim }) => ({ id, claim: claim ?? '' })));
  await transaction
    .updateTable('outbox')
    .set({ claimed_until: until })
    .where(
      'id',
      'in',
      claims.map(({ id }) => id),
    )
    .where((e) => e.or(claims.map((claim) => e.and(claim))))
    .execute();
}

/** Releases all claims. */
export async function releaseClaims(transaction: Transaction): Promise<void> {
  await transaction
    .updateTable('outbox')
    .set({ claim: null, claimed_until: null })
    .where('due_at', 'is not', null)
    .where('claim', 'is not', null)
    .execute();
}

export const insertAttempts = preparedInserts('webhook_tries');

/** True if an attempt is stored. Locks its event first, which waits for a transaction that is about to store it. */
export async function isRecorded(transaction: Transaction, id: string, triedAt: number): Promise<boolean> {
  await rowById(transaction, 'outbox', id).$call(forUpdate(transaction)).execute();
  return hasRows(
    transaction.selectFrom('webhook_tries').where((e) => e.and({ event_id: id, tried_at: triedAt })),
  );
}

/**
 * The events were delivered: they are not due any more, unless somebody has made them due again since their attempt began, which may
 * have gone to another URL.
 */
export async function markDelivered(
  transaction: Transaction,
  events: readonly Pick<OutboxTable, 'id' | 'claim'>[],
): Promise<void> {
  const claimed = events.map(({ id, claim }) => ({ id, claim: claim ?? '' }));
  for (const chunk of chunksOf(claimed)) await markAll(transaction, filledUp(chunk));
}

const markAll = preparedSend(
  (transaction, rows: readonly { readonly id: string; readonly claim: string }[]) =>
    transaction
      .updateTable('outbox')
      .set({ due_at: null, claim: null, claimed_until: null, status: 'delivered' })
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      // Pairs: an event can be delivered to its previous URL and under a new claim at once, and both end together.
      .where((e) =>
        e.or([
          e('due_at', 'is', null),
          ...rows.map(({ id, claim }) => e.and([e('id', '=', id), e('claim', '=', claim)])),
        ]),
      ),
);

export interface EventFilter extends DeliveryFilter {
  readonly merchantId?: string | undefined;
  /** Only those that were tried without success. */
  readonly isFailing?: boolean | undefined;
  readonly limit: number;
}

export interface EventWithAttempts extends OutboxTable {
  /** Oldest first. */
  readonly attempts: Omit<WebhookTryTable, 'event_id'>[];
}

const withAttempts = (reader: Reader) =>
  reader
    .selectFrom('outbox')
    .selectAll('outbox')
    .select((e) =>
      jsonRows(
        reader,
        e
          .selectFrom('webhook_tries')
          .select(['tried_at', 'duration_ms', 'response_status', 'response_excerpt', 'error'])
          .whereRef('webhook_tries.event_id', '=', 'outbox.id')
          .orderBy('webhook_tries.tried_at'),
      ).as('attempts'),
    )
    .orderBy('outbox.created_at', 'desc')
    .orderBy('outbox.id', 'desc');

async function readEvents(query: ReturnType<typeof withAttempts>): Promise<EventWithAttempts[]> {
  return (await query.execute()).map((row) => ({ ...row, attempts: readRows(row.attempts) }));
}

/** For operators: events of all merchants, newest first. */
export async function listEvents(
  reader: Reader,
  { merchantId, isFailing, limit, ...filter }: EventFilter,
): Promise<EventWithAttempts[]> {
  // Each status separately: there can be millions of delivered events.
  const statuses =
    isFailing && filter.status !== 'failing'
      ? (['pending', 'failed'] as const).filter((one) => one === (filter.status ?? one))
      : [filter.status];
  const ids: string[] = [];
  for (const status of statuses) {
    const first = await firstOfAll(reader, merchantId, { direction: 'desc', limit }, (scope) =>
      listedEvents(reader, scope, { ...filter, status })
        .select('outbox.created_at')
        .$if(isFailing === true, (events) =>
          events.where((e) =>
            e.exists(e.selectFrom('webhook_tries').select('event_id').whereRef('event_id', '=', 'outbox.id')),
          ),
        ),
    );
    ids.push(...first);
  }
  if (ids.length === 0) return [];
  const found: EventWithAttempts[] = [];
  for (const chunk of chunksOf(ids)) {
    found.push(...(await readEvents(withAttempts(reader).where('outbox.id', 'in', chunk))));
  }
  return found.sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1)).slice(0, limit);
}

/** Each filter of a merchant's list has an index of its own, in the order of the list. */
export interface DeliveryFilter extends CreationRange {
  readonly subjectId?: string | undefined;
  readonly type?: WebhookEventType | undefined;
  /** `failing`: pending, and tried without success. */
  readonly status?: WebhookStatus | 'failing' | undefined;
}

/** Events come by the million, so a list ends here, and counts no further. */
const mostListed = 10_000;

export async function pageOfEvents(reader: Reader, scope: Scope, query: PageRequest & DeliveryFilter) {
  const { rows, total } = await readPage(listedEvents(reader, scope, query), 'outbox', query, {
    reader,
    mostListed,
  });
  if (rows.length === 0) return { rows: [], total };
  const ids = rows.map(({ id }) => id);
  return { rows: await readEvents(withAttempts(reader).where('outbox.id', 'in', ids)), total };
}

function listedEvents(reader: Reader, scope: Scope, query: DeliveryFilter) {
  const { subjectId, type, status } = query;
  let matching = reader
    .selectFrom('outbox')
    .select('outbox.id')
    .$call(having({ type, status: status === 'failing' ? 'pending' : status }));
  if (status === 'failing') matching = matching.where('tries', '>', 0);
  if (subjectId === undefined) return matching.where(isListed('outbox', scope, query));
  // A record has few events. With the plain scope, SQLite would rather walk all of the merchant's, because it has no statistics.
  const { merchantId, mode } = scope;
  return matching
    .where('subject_id', '=', subjectId)
    .where(sql<boolean>`coalesce(merchant_id, '') = ${merchantId} and coalesce(mode, '') = ${mode}`)
    .where(isCreatedWithin('outbox', query));
}

/** An event of a merchant's mode, with its attempts. */
export async function findDelivery(reader: Reader, scope: Scope, id: string) {
  const [event] = await readEvents(withAttempts(reader).where('id', '=', id).$call(inScope(scope)));
  return event;
}

/** Makes failed events of a merchant's mode due, the oldest first. @returns their number, at most `limit` */
export async function makeFailedDue(
  transaction: Transaction,
  { merchantId, mode }: Scope,
  now: number,
  limit: number,
): Promise<number> {
  const { numUpdatedRows } = await transaction
    .updateTable('outbox')
    .set({ ...asNew, due_at: now })
    .where('id', 'in', (e) =>
      e
        .selectFrom('outbox')
        .select('id')
        .where((e) => e.and({ merchant_id: merchantId, mode, status: 'failed' }))
        .orderBy('created_at')
        .orderBy('id')
        .limit(limit),
    )
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Deletes events created before a real time, with their attempts. @returns their number, at most `limit` */
export async function deleteOld(
  transaction: Transaction,
  mode: Mode,
  status: WebhookStatus,
  before: number,
  limit: number,
): Promise<number> {
  // Events of merchants who moved their test clock are as much ahead of real time as the clock.
  const ahead =
    mode === 'live'
      ? sql`0`
      : sql`coalesce((select offset_ms from test_clocks where merchant_id = merchants.id), 0)`;
  const { numDeletedRows } = await transaction
    .deleteFrom('outbox')
    .where('id', 'in', (e) =>
      e
        .selectFrom('merchants')
        // For SQLite: merchant by merchant, each by the index.
        .crossJoin('outbox')
        .select('outbox.id')
        .whereRef('outbox.merchant_id', '=', 'merchants.id')
        .where((e) => e.and({ 'outbox.mode': mode, 'outbox.status': status }))
        .where('outbox.created_at', '<', sql<number>`${ahead} + cast(${before} as bigint)`)
        .limit(limit),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
