/** Reads and writes subscribers, and the cycles that they were charged for. */
import { sql } from 'kysely';
import { forUpdate, forUpdateSkipLocked } from '../db/locks.js';
import { isListed, readCheckpointedPage, readPage } from '../db/pages.js';
import { type PaymentRow, type SubscriberCycleTable, tables } from '../db/schema.js';
import { valuesOf, type Values } from '../db/values.js';
import type { Scope, Mode } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { PageRequest } from '../shared/pagination.js';
import { referenceOf, type NamedCycle } from './cycle-reference.js';
import { filtersBy } from '../db/plans.js';
import { prepared } from '../db/prepared.js';
import { hasRows, having, inScope, insertRow, rowById, updateRow } from '../db/rows.js';

export interface SubscriberQuery extends PageRequest {
  readonly customerId?: string | undefined;
  readonly planId?: string | undefined;
  readonly isActive?: boolean | undefined;
}

const subscribers = valuesOf(tables.subscribers);
const payments = valuesOf(tables.payments);
export type SubscriberRow = Values<typeof tables.subscribers>;

/** @returns false if the customer already has an active subscription to the plan */
export async function insertSubscriber(transaction: Transaction, row: SubscriberRow): Promise<boolean> {
  const result = await transaction
    .insertInto('subscribers')
    .values(subscribers.encode(row))
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

function selectSubscriber(reader: Reader, scope: Scope, id: string) {
  return rowById(reader, 'subscribers', id).$call(inScope(scope)).where('removed_at', 'is', null);
}

export async function findSubscriber(reader: Reader, scope: Scope, id: string) {
  return subscribers.decode(await selectSubscriber(reader, scope, id).executeTakeFirst());
}

/** Locks a subscriber until the transaction ends. */
export async function lockSubscriber(transaction: Transaction, scope: Scope, id: string) {
  return subscribers.decode(
    await selectSubscriber(transaction, scope, id).$call(forUpdate(transaction)).executeTakeFirst(),
  );
}

/** Locks the subscriber of a cycle, of any merchant, even if it was removed. */
export async function lockSubscriberOfCycle(transaction: Transaction, cycle: SubscriberCycleTable) {
  const locked = rowById(transaction, 'subscribers', cycle.subscriber_id).$call(forUpdate(transaction));
  return subscribers.decode(await locked.executeTakeFirstOrThrow());
}

const updateStored = updateRow('subscribers');
export const updateSubscriber = (transaction: Transaction, id: string, changes: Partial<SubscriberRow>) =>
  updateStored(transaction, id, subscribers.encode(changes));

/** The most subscribers of one plan or customer that are listed. */
const mostListed = 10_000;

/** Newest first. */
export async function listSubscribers(reader: Reader, scope: Scope, query: SubscriberQuery) {
  const { customerId, planId, isActive } = query;
  const active = isActive === undefined ? undefined : subscribers.encode({ is_active: isActive });
  const listed = reader
    .selectFrom('subscribers')
    .selectAll()
    .where(isListed('subscribers', scope, query))
    .where('removed_at', 'is', null)
    .$call(having({ customer_id: customerId, plan_id: planId }))
    .$call((all) => {
      if (!active) return all;
      // A customer and a plan have few among all, however many are active.
      return customerId === undefined && planId === undefined
        ? all.where('is_active', '=', active.is_active)
        : all.where(filtersBy(reader, active));
    });
  const { rows, total } =
    customerId === undefined && planId === undefined
      ? await readCheckpointedPage(reader, listed, 'subscribers', scope, query, active)
      : await readPage(listed, 'subscribers', query, { reader, mostListed });
  return { rows: rows.map(subscribers.decode), total };
}

/** True if any subscriber of the mode is due on its merchant's clock. */
export async function isAnyDue(reader: Reader, mode: Mode, realNow: number): Promise<boolean> {
  const late = reader
    .selectFrom('subscribers')
    .where((e) => e.and([e('mode', '=', mode), e('charge_at', '<=', realNow)]));
  if (await hasRows(late)) return true;
  if (mode === 'live') return false;
  // Reads the next one of each merchant. In a join, PostgreSQL would read all that are not due, since it expects to find one soon.
  const next = sql<number>`(
    select min(charge_at) from subscribers
    where subscribers.merchant_id = test_clocks.merchant_id and mode = 'test' and charge_at > ${realNow})`;
  return hasRows(
    reader.selectFrom('test_clocks').where(next, '<=', sql<number>`offset_ms + cast(${realNow} as bigint)`),
  );
}

/** Subscribers that are due because their merchant has moved its test clock. Reads an index range per such merchant. */
function dueOnMovedClocks(reader: Reader, realNow: number) {
  return reader
    .selectFrom('test_clocks')
    .crossJoin('subscribers')
    .whereRef('subscribers.merchant_id', '=', 'test_clocks.merchant_id')
    .where('subscribers.mode', '=', sql.lit('test'))
    .where('subscribers.charge_at', '>', realNow)
    .where('subscribers.charge_at', '<=', sql<number>`test_clocks.offset_ms + cast(${realNow} as bigint)`);
}

export type DueSubscriber = NonNullable<Awaited<ReturnType<typeof claimDue>>>;

/**
 * Locks a subscriber that is due and that no other transaction has locked: the one that has been due for longest in real
 * time, and then those whose merchants moved their clocks.
 */
export async function claimDue(transaction: Transaction, mode: Mode, realNow: number) {
  const late = await transaction
    .selectFrom('subscribers')
    .leftJoin('test_clocks', (join) =>
      join
        .onRef('test_clocks.merchant_id', '=', 'subscribers.merchant_id')
        .on('subscribers.mode', '=', 'test'),
    )
    .selectAll('subscribers')
    .select('test_clocks.offset_ms')
    .where('subscribers.mode', '=', mode)
    .where('subscribers.charge_at', '<=', realNow)
    .orderBy('subscribers.charge_at')
    .limit(1)
    .$call(forUpdateSkipLocked(transaction, 'subscribers'))
    .executeTakeFirst();
  const due = late ?? (mode === 'test' ? await claimOnMovedClock(transaction, realNow) : undefined);
  if (!due) return undefined;
  const { offset_ms: offsetMs, ...row } = due;
  /** `now` is the time of the merchant's clock. */
  return { row: subscribers.decode(row), now: realNow + (offsetMs ?? 0) };
}

function claimOnMovedClock(transaction: Transaction, realNow: number) {
  return dueOnMovedClocks(transaction, realNow)
    .selectAll('subscribers')
    .select('test_clocks.offset_ms')
    .limit(1)
    .$call(forUpdateSkipLocked(transaction, 'subscribers'))
    .executeTakeFirst();
}

export async function postponeCharge(transaction: Transaction, id: string, until: number): Promise<void> {
  await transaction
    .updateTable('subscribers')
    .set({ charge_at: until })
    .where('id', '=', id)
    .where('charge_at', '<', until)
    .execute();
}

export const insertCycle = insertRow('subscriber_cycles');

/** The cycle that a payment counts for; undefined for other payments. */
export async function findCycle(
  transaction: Transaction,
  paymentId: string,
): Promise<SubscriberCycleTable | undefined> {
  const [cycle] = await cycleOf(transaction, { paymentId });
  return cycle;
}

const cycleOf = prepared((reader, { paymentId }: { readonly paymentId: string }) =>
  reader.selectFrom('subscriber_cycles').selectAll().where('payment_id', '=', paymentId),
);

/** The terms that a payment must have to replace the one that a cycle was charged with. */
export type ReplacementTerms = Pick<
  PaymentRow,
  'merchant_id' | 'mode' | 'base_amount' | 'base_currency' | 'currency'
>;

/**
 * Undefined if the cycle does not exist, or if it was charged by another merchant, in another mode, at another price, or in
 * other coins: who creates a payment for a cycle before it is charged can choose any coin.
 */
export async function findReplaceableCycle(
  transaction: Transaction,
  { subscriberId, cycle }: NamedCycle,
  terms: ReplacementTerms,
): Promise<SubscriberCycleTable | undefined> {
  const { merchant_id, mode, base_amount, base_currency } = payments.encode(terms);
  const row = await transaction
    .selectFrom(['subscriber_cycles', 'payments'])
    .selectAll('subscriber_cycles')
    .select('payments.accepted_currencies')
    .where((e) =>
      e.and({ 'subscriber_cycles.subscriber_id': subscriberId, 'subscriber_cycles.cycle': cycle }),
    )
    .where((e) => e.and({ 'payments.merchant_id': merchant_id, 'payments.mode': mode }))
    .where((e) => e.and({ 'payments.base_amount': base_amount, 'payments.base_currency': base_currency }))
    .where((e) =>
      e.and({ 'payments.tx_ref': referenceOf(subscriberId, cycle), 'payments.created_by': 'secret' }),
    )
    .executeTakeFirst();
  if (!row) return undefined;
  const { accepted_currencies: accepted, ...found } = row;
  const coins = tables.payments.columns.accepted_currencies.read(accepted);
  return coins === null || coins.includes(terms.currency ?? '') ? found : undefined;
}

/** Reads a cycle again, whose subscriber is locked now. */
export function reloadCycle(
  transaction: Transaction,
  { subscriber_id: subscriberId, cycle }: SubscriberCycleTable,
): Promise<SubscriberCycleTable> {
  return transaction
    .selectFrom('subscriber_cycles')
    .selectAll()
    .where((e) => e.and({ subscriber_id: subscriberId, cycle }))
    .executeTakeFirstOrThrow();
}

export async function updateCycle(
  transaction: Transaction,
  { subscriber_id: subscriberId, cycle }: SubscriberCycleTable,
  changes: Pick<SubscriberCycleTable, 'payment_id' | 'outcome'>,
): Promise<void> {
  await transaction
    .updateTable('subscriber_cycles')
    .set(changes)
    .where((e) => e.and({ subscriber_id: subscriberId, cycle }))
    .execute();
}

export const isAnyOpen = (transaction: Transaction, subscriberId: string): Promise<boolean> =>
  hasRows(
    transaction
      .selectFrom('subscriber_cycles')
      .where((e) => e.and({ subscriber_id: subscriberId, outcome: 'open' })),
  );

/** The outcomes of the newest cycle that is no longer open, and of the cycles charged before it, newest first. */
export async function newestOutcomes(transaction: Transaction, subscriberId: string, limit: number) {
  const rows = await transaction
    .selectFrom('subscriber_cycles')
    .select('outcome')
    .where('subscriber_id', '=', subscriberId)
    .where('cycle', '<=', (e) =>
      e
        .selectFrom('subscriber_cycles')
        .select((newest) => newest.fn.max('cycle').as('cycle'))
        .where('subscriber_id', '=', subscriberId)
        .where('outcome', '<>', 'open'),
    )
    .orderBy('cycle', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => row.outcome);
}
