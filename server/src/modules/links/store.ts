/** Reads and writes payment links, and what is held of their stock. */
import { statusOf } from 'crypto-checkout/contract';
import { expressionBuilder, sql, type SqlBool } from 'kysely';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { forUpdate } from '../../core/db/locks.js';
import { firstOfAll, isListed, readPage, type CreationRange } from '../../core/db/pages.js';
import { paymentStatusIn } from '../../core/db/payment-status.js';
import type { QueryParts } from '../../core/db/query-parts.js';
import { having, inScope, insertRow, rowById, rowsInOrder } from '../../core/db/rows.js';
import { tables, type Schema } from '../../core/db/schema.js';
import { valuesOf } from '../../core/db/values.js';
import type { PageRequest } from '../../core/shared/pagination.js';
import { scopeOf, type Scope, type Within } from '../../core/shared/scope.js';
import { linkTables, type LinkPaymentRow, type LinkRow } from './tables.js';

const links = valuesOf(linkTables.links);
const payments = valuesOf(tables.payments);

/** In a payment's record. */
export const linkParts: QueryParts = {
  paymentFields: () =>
    expressionBuilder<Schema, 'payments'>()
      .selectFrom('link_payments')
      .select([sql<'linkId'>`'linkId'`.as('name'), 'link_payments.link_id as value'])
      .whereRef('link_payments.payment_id', '=', 'payments.id'),
};

export async function insertLink(transaction: Transaction, row: LinkRow): Promise<void> {
  await transaction.insertInto('links').values(links.encode(row)).execute();
}

/** Rewrites a locked link. */
export async function updateLink(transaction: Transaction, { id, ...row }: LinkRow): Promise<void> {
  const { id: _id, ...stored } = links.encode({ id, ...row });
  await transaction.updateTable('links').set(stored).where('id', '=', id).execute();
}

export async function findLink(reader: Reader, scope: Scope, id: string): Promise<LinkRow | undefined> {
  return links.decode(await rowById(reader, 'links', id).$call(inScope(scope)).executeTakeFirst());
}

/** A link of any merchant. */
export async function findAnyLink(reader: Reader, id: string): Promise<LinkRow | undefined> {
  return links.decode(await rowById(reader, 'links', id).executeTakeFirst());
}

export async function findBySlug(reader: Reader, slug: string): Promise<LinkRow | undefined> {
  return links.decode(
    await reader.selectFrom('links').selectAll().where('slug', '=', slug).executeTakeFirst(),
  );
}

/** Locks a link until the transaction ends. Payments are locked before it. */
export async function lockLink(transaction: Transaction, id: string): Promise<LinkRow | undefined> {
  return links.decode(
    await rowById(transaction, 'links', id).$call(forUpdate(transaction)).executeTakeFirst(),
  );
}

export interface LinkFilter extends CreationRange {
  readonly isActive?: boolean | undefined;
}

const matching = (reader: Reader, scope: Scope, { isActive, ...range }: LinkFilter) =>
  reader
    .selectFrom('links')
    .where(isListed('links', scope, range))
    .$call(having(links.encode({ is_active: isActive })));

export async function listLinks(reader: Reader, scope: Scope, request: PageRequest & LinkFilter) {
  const { rows, total } = await readPage(matching(reader, scope, request).selectAll(), 'links', request);
  return { rows: rows.map(links.decode), total };
}

/** For operators: links of all merchants, oldest first, at most 1000. */
export async function listAllLinks(
  reader: Reader,
  { merchantId, ...filter }: LinkFilter & Pick<Within, 'merchantId'>,
): Promise<LinkRow[]> {
  const ids = await firstOfAll(reader, merchantId, { direction: 'asc', limit: 1000 }, (scope) =>
    matching(reader, scope, filter).select(['id', 'created_at']),
  );
  return (await rowsInOrder(reader, 'links', ids)).map(links.decode);
}

export interface Held {
  readonly sold: number;
  readonly reserved: number;
  /** The number of payments that hold something. */
  readonly payments: number;
}

const nothing: Held = { sold: 0, reserved: 0, payments: 0 };

/** The quantities that payments hold, by the ids of their links. */
export async function heldOf(reader: Reader, ids: readonly string[]): Promise<(id: string) => Held> {
  const held = new Map<string, Held>();
  if (ids.length > 0) {
    // Each counts, also those of one order: all of them can be paid.
    const rows = await reader
      .selectFrom('link_payments')
      .select(['link_id', 'hold'])
      .select([
        sql<number | string>`sum(quantity)`.as('quantity'),
        sql<number | string>`count(*)`.as('count'),
      ])
      .where('link_id', 'in', ids)
      .where('hold', 'in', [sql<'reserved'>`'reserved'`, sql<'sold'>`'sold'`])
      .groupBy(['link_id', 'hold'])
      .execute();
    for (const { link_id: id, hold, quantity, count } of rows) {
      const before = held.get(id) ?? nothing;
      held.set(id, {
        ...before,
        [hold === 'sold' ? 'sold' : 'reserved']: Number(quantity),
        payments: before.payments + Number(count),
      });
    }
  }
  return (id) => held.get(id) ?? nothing;
}

const hasCustomer = sql<SqlBool>`customer_id is not null and due_at is not null`;

/** Those that have invoices for customers. */
export async function invoiceScopes(reader: Reader): Promise<Scope[]> {
  const rows = await reader
    .selectFrom('links')
    .select(['merchant_id', 'mode'])
    .where(hasCustomer)
    .groupBy(['merchant_id', 'mode'])
    .execute();
  return rows.map(scopeOf);
}

/** The ids of invoices that are due soon, or have been due for less than a month, and whose customers do not know. */
export async function dueInvoices(reader: Reader, scope: Scope, now: number, soon: number) {
  const rows = await reader
    .selectFrom('links')
    .select('id')
    .$call(inScope(scope))
    .where(hasCustomer)
    .where('is_active', '=', 1)
    .where('due_at', '>', now - 30 * 86_400_000)
    .where('due_at', '<=', soon)
    .where((e) =>
      e.or([
        e.and([
          e('due_at', '>=', now),
          e.or([e('due_told', 'is', null), e('due_told', '!=', e.ref('due_at'))]),
        ]),
        e.and([
          e('due_at', '<', now),
          e.or([e('overdue_told', 'is', null), e('overdue_told', '!=', e.ref('due_at'))]),
        ]),
      ]),
    )
    .orderBy('due_at')
    .limit(500)
    .execute();
  return rows.map(({ id }) => id);
}

/** Those of the links whose price is paid, and those for which a part has arrived. */
export async function paidOf(reader: Reader, ids: readonly string[]) {
  const rows =
    ids.length === 0
      ? []
      : await reader
          .selectFrom('link_payments')
          .innerJoin('payments', 'payments.id', 'link_payments.payment_id')
          .innerJoin('links', 'links.id', 'link_payments.link_id')
          .select(['link_payments.link_id', 'payments.state', 'payments.base_amount', 'links.amount'])
          .where('link_payments.link_id', 'in', ids)
          .execute();
  const idsWith = (test: (row: (typeof rows)[number]) => boolean) =>
    new Set(rows.filter(test).map(({ link_id: id }) => id));
  // The price may have been lower when a payment was made.
  const isWhole = ({ base_amount, amount }: (typeof rows)[number]) =>
    payments.decode({ base_amount }).base_amount >= (links.decode({ amount }).amount ?? 0n);
  return {
    paid: idsWith((row) => statusOf(row.state) === 'success' && isWhole(row)),
    partPaid: idsWith(({ state }) => state === 'partially_paid' || state === 'expired_partial'),
  };
}

export const insertLinkPayment = insertRow('link_payments');

export function findLinkPayment(reader: Reader, paymentId: string): Promise<LinkPaymentRow | undefined> {
  return reader
    .selectFrom('link_payments')
    .selectAll()
    .where('payment_id', '=', paymentId)
    .executeTakeFirst();
}

/** The server's own payment with a number, and what it costs. */
export function findPressed(reader: Reader, linkId: string, number: number) {
  return reader
    .selectFrom('link_payments')
    .innerJoin('payments', 'payments.id', 'link_payments.payment_id')
    .selectAll('link_payments')
    .select(['payments.merchant_id', 'payments.mode', 'payments.base_amount', 'payments.base_currency'])
    .where('link_payments.link_id', '=', linkId)
    .where('link_payments.number', '=', number)
    .where('link_payments.repeat', '=', 0)
    .executeTakeFirst();
}

/** The newest payment that this press has made. */
export function findPress(reader: Reader, linkId: string, press: string) {
  return reader
    .selectFrom('link_payments')
    .innerJoin('payments', 'payments.id', 'link_payments.payment_id')
    .select(['payments.id', 'payments.state'])
    .where('link_payments.link_id', '=', linkId)
    .where('link_payments.press', '=', press)
    .orderBy('link_payments.number', 'desc')
    .executeTakeFirst();
}

export async function setHold(
  transaction: Transaction,
  paymentId: string,
  hold: LinkPaymentRow['hold'],
  from?: readonly LinkPaymentRow['hold'][],
): Promise<void> {
  await transaction
    .updateTable('link_payments')
    .set({ hold })
    .where('payment_id', '=', paymentId)
    .$if(from !== undefined, (query) => query.where('hold', 'in', from ?? []))
    .execute();
}

/** Reserves, takes and frees the stock as the payments are now, for those that changed while nobody set it. */
export async function followPayments(transaction: Transaction): Promise<void> {
  const status = sql.raw(paymentStatusIn('payments.state'));
  const isLocked = sql`${status} = 'in progress' and payments.locked_at is not null`;
  await sql`
    update link_payments set hold = case when ${isLocked} then 'reserved' when ${status} = 'success' then 'sold' else 'freed' end
    from payments where payments.id = link_payments.payment_id and (
      (${status} = 'success' and hold <> 'sold')
      or (${isLocked} and hold = 'none')
      or (${status} not in ('success', 'in progress') and hold in ('reserved', 'sold')))`.execute(
    transaction,
  );
}

/** The number of orders of a visitor that held something of a link, and were not paid. */
export async function countUnpaid(reader: Reader, linkId: string, visitor: string): Promise<number> {
  const { count } = await reader
    .selectFrom('link_payments')
    // Anybody can start an order over.
    .select((e) => e.fn.count<number | string>('number').distinct().as('count'))
    .where('link_id', '=', linkId)
    .where('visitor', '=', visitor)
    .where('hold', 'in', ['reserved', 'freed'])
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The number of payments of an order that can be paid now. */
export async function countReserved(reader: Reader, linkId: string, number: number): Promise<number> {
  const { count } = await reader
    .selectFrom('link_payments')
    .select((e) => e.fn.countAll<number | string>().as('count'))
    .where('link_id', '=', linkId)
    .where('number', '=', number)
    .where('hold', '=', 'reserved')
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Forgets who pressed before a time. */
export async function forgetVisitors(transaction: Transaction, before: number): Promise<void> {
  await transaction
    .updateTable('link_payments')
    .set({ visitor: null })
    .where('visitor', 'is not', null)
    .where('pressed_at', '<', before)
    .execute();
}
