/** Stores payments. */
import type { LogValues, PaymentStatus } from 'crypto-checkout/contract';
import { sql, type Expression, type ExpressionBuilder, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { jsonRows, readRows } from '../db/json.js';
import { locatePage, startsAt } from '../db/list-checkpoints.js';
import { forUpdate } from '../db/locks.js';
import { isCreatedWithin, isListed, readPage } from '../db/pages.js';
import { paymentStatusOf } from '../db/payment-status.js';
import { prepared, preparedSend } from '../db/prepared.js';
import { chunksOf, inChunks } from '../db/chunks.js';
import { send } from '../db/send.js';
import {
  tables,
  type LogEntryTable,
  type PaymentTable,
  type ReceiptTable,
  type Schema,
} from '../db/schema.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { PageRequest } from '../shared/pagination.js';

export type PaymentRow = PaymentTable;

/** An entry of the time log, to be added. */
export interface NewLogEntry extends Pick<LogEntryTable, 'type' | 'event' | 'code'> {
  /** The amounts (plain decimals), codes and counts that `event` names. */
  readonly values: LogValues;
}

/** A receipt as it is read with its payment. */
export type StoredReceipt = ReceiptTable & {
  /** The block up to which its own network was read; absent if the receipt was not read from the database. */
  readonly scanned_height?: number | null;
};

// SQLite needs the names to build JSON from them.
const receiptColumns = (Object.keys(tables.receipts.columns) as (keyof ReceiptTable)[]).map(
  (name) => `receipts.${name}` as const,
);

const insertRow = prepared((transaction, row: PaymentRow) =>
  transaction
    .insertInto('payments')
    .values(row)
    .onConflict((conflict) => conflict.columns(['merchant_id', 'mode', 'tx_ref', 'created_by']).doNothing())
    .returning('id'),
);

/** @returns false if a key of the same kind already created a payment with this reference in this mode */
export async function insertPayment(transaction: Transaction, row: PaymentRow): Promise<boolean> {
  return (await insertRow(transaction, row)).length === 1;
}

export type LogRow = Pick<LogEntryTable, 'time' | 'type' | 'event' | 'code' | 'entry_values'>;

/** The data of a payment that other tables hold. */
interface RecordParts {
  /** Oldest first. */
  readonly log: readonly LogRow[];
  /** All receipts, including dropped and reversed ones, oldest first. */
  readonly receipts: readonly StoredReceipt[];
  /** The block up to which its network was read; null if it never was. */
  readonly scanned_height: number | null;
}

/** A payment with everything that its view depends on. */
export type StoredRecord = PaymentRow & RecordParts;

/** The parts of a new payment. */
export const noParts: RecordParts = { log: [], receipts: [], scanned_height: null };

/** Starts a query that reads payments with their parts. */
function selectRecords(reader: Reader) {
  return reader
    .selectFrom('payments')
    .leftJoin('chain_cursors', (join) =>
      join
        .onRef('chain_cursors.mode', '=', 'payments.mode')
        .onRef('chain_cursors.network', '=', 'payments.network'),
    )
    .select((e) => [
      'payments.id',
      'chain_cursors.height as scanned_height',
      jsonRows(
        reader,
        e
          .selectFrom('log_entries')
          .select(['time', 'type', 'event', 'code', 'entry_values'])
          .whereRef('log_entries.payment_id', '=', 'payments.id')
          .orderBy('log_entries.id'),
      ).as('log'),
      jsonRows(
        reader,
        e
          .selectFrom('receipts')
          .select(receiptColumns)
          .select((r) =>
            r
              .selectFrom('chain_cursors as own')
              .select('own.height')
              .whereRef('own.mode', '=', 'receipts.mode')
              .whereRef('own.network', '=', 'receipts.network')
              .as('scanned_height'),
          )
          .whereRef('receipts.payment_id', '=', 'payments.id')
          .orderBy('receipts.first_seen_at')
          // Blocks of one second have the same time.
          .orderBy('receipts.block_height')
          .orderBy('receipts.id'),
      ).as('receipts'),
    ]);
}

function readParts<Row extends { log: LogRow[]; receipts: StoredReceipt[] }>(row: Row): Row {
  return { ...row, log: readRows(row.log), receipts: readRows(row.receipts) };
}

// Looks up by primary key only. With the scope in the condition, PostgreSQL may scan all payments of the merchant as
// long as it has no statistics for a new table.
const findById = prepared((reader, { id }: { readonly id: string }) =>
  selectRecords(reader).selectAll('payments').where('payments.id', '=', id),
);

export async function findRecord(
  reader: Reader,
  { merchantId, mode }: Scope,
  id: string,
): Promise<StoredRecord | undefined> {
  const [row] = await findById(reader, { id });
  return row?.merchant_id === merchantId && row.mode === mode ? readParts(row) : undefined;
}

const lockRow = prepared((transaction, { id }: { readonly id: string }) =>
  transaction.selectFrom('payments').selectAll().where('id', '=', id).$call(forUpdate(transaction)),
);

const findParts = prepared((reader, { id }: { readonly id: string }) =>
  selectRecords(reader).where('payments.id', '=', id),
);

/**
 * Locks a payment of any merchant and mode until the transaction ends. A second statement reads its parts, so that it
 * sees what was committed while the first one waited for the lock.
 */
export async function lockRecord(transaction: Transaction, id: string): Promise<StoredRecord | undefined> {
  const [[row], [parts]] = await Promise.all([lockRow(transaction, { id }), findParts(transaction, { id })]);
  return row && parts && { ...row, ...readParts(parts) };
}

/** Locks a payment of any merchant and mode until the transaction ends, without reading its parts. */
export async function lockPayment(transaction: Transaction, id: string): Promise<PaymentRow | undefined> {
  const [row] = await lockRow(transaction, { id });
  return row;
}

/**
 * Locks payments until the transaction ends. All callers lock in the same order, so that they cannot deadlock. Call it
 * before locking anything that belongs to them.
 */
export async function lockPayments(
  transaction: Transaction,
  ids: readonly string[],
): Promise<Map<string, PaymentRow>> {
  const rows = await inChunks([...new Set(ids)].sort(), (chunk) =>
    transaction
      .selectFrom('payments')
      .selectAll()
      .where('id', 'in', chunk)
      .orderBy('id')
      .$call(forUpdate(transaction))
      .execute(),
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** The merchant and mode of a payment, for pages that know only its id. */
export async function findOwner(reader: Reader, id: string): Promise<Scope | undefined> {
  const row = await reader
    .selectFrom('payments')
    .select(['merchant_id', 'mode'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { merchantId: row.merchant_id, mode: row.mode };
}

export function findPaymentByReference(
  reader: Reader,
  scope: Scope,
  txRef: string,
  createdBy: PaymentRow['created_by'],
): Promise<Pick<PaymentRow, 'id' | 'accepted_currencies'> | undefined> {
  return reader
    .selectFrom('payments')
    .select(['id', 'accepted_currencies'])
    .where('merchant_id', '=', scope.merchantId)
    .where('mode', '=', scope.mode)
    .where('tx_ref', '=', txRef)
    .where('created_by', '=', createdBy)
    .executeTakeFirst();
}

const updateRow = preparedSend(
  (transaction, { id, ...changes }: { readonly id: string } & Partial<PaymentRow>) =>
    transaction.updateTable('payments').set(changes).where('id', '=', id),
);

export function updatePayment(
  transaction: Transaction,
  id: string,
  changes: Partial<PaymentRow>,
): Promise<void> {
  return updateRow(transaction, { id, ...changes });
}

const insertLogEntry = preparedSend((transaction, entry: Omit<LogEntryTable, 'id'>) =>
  transaction.insertInto('log_entries').values(entry),
);

/** From this many on, entries are inserted by statements with many rows each. */
const manyEntries = 10;

/** @returns the new entries in the form in which they are read */
export async function appendLog(
  transaction: Transaction,
  paymentId: string,
  time: number,
  entries: readonly NewLogEntry[],
): Promise<readonly LogRow[]> {
  const rows = entries.map(({ type, event, code, values }) => ({
    time,
    type,
    event,
    code,
    entry_values: JSON.stringify(values),
  }));
  const stored = rows.map((row) => ({ payment_id: paymentId, ...row }));
  if (stored.length < manyEntries) for (const row of stored) await insertLogEntry(transaction, row);
  else {
    for (const chunk of chunksOf(stored)) {
      await send(transaction, transaction.insertInto('log_entries').values(chunk));
    }
  }
  return rows;
}

/** Filters of the list. Texts are exact; email, currency and network in any case. */
export interface PaymentFilter {
  readonly txRef?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  readonly currency?: string | undefined;
  readonly network?: string | undefined;
  /** The customer's email. */
  readonly customer?: string | undefined;
  readonly txHash?: string | undefined;
}

/** Each filter has an index of its own, in the order of the list. */
function filters(
  e: ExpressionBuilder<Schema, 'payments'>,
  { status, currency, network, customer }: PaymentFilter,
): Expression<SqlBool>[] {
  return [
    ...(status === undefined ? [] : [e(paymentStatusOf, '=', status)]),
    ...(currency === undefined ? [] : [e('currency', '=', currency.toUpperCase())]),
    ...(network === undefined ? [] : [e('network', '=', network.toLowerCase())]),
    ...(customer === undefined
      ? []
      : [
          // Says what the index does, so that SQLite uses it.
          e('customer_email', 'is not', null),
          e(sql`lower(customer_email)`, '=', customer.toLowerCase()),
        ]),
  ];
}

/** The ids of the payments with a reference or a transfer, which are few. */
function lookUps(
  e: ExpressionBuilder<Schema, 'payments'>,
  { merchantId, mode }: Scope,
  { txRef, txHash }: PaymentFilter,
): Expression<SqlBool>[] {
  const byReference = e
    .selectFrom('payments as named')
    .select('named.id')
    .where('named.merchant_id', '=', merchantId)
    .where('named.mode', '=', mode)
    .where('named.tx_ref', '=', txRef ?? '');
  const byTransfer = e
    .selectFrom('receipts')
    .select('receipts.payment_id')
    .where('receipts.merchant_id', '=', merchantId)
    .where('receipts.mode', '=', mode)
    .where('receipts.tx_hash', '=', txHash ?? '');
  return [
    ...(txRef === undefined ? [] : [e('payments.id', 'in', byReference)]),
    ...(txHash === undefined ? [] : [e('payments.id', 'in', byTransfer)]),
  ];
}

export async function listRecords(
  reader: Reader,
  scope: Scope,
  query: PageRequest & PaymentFilter,
): Promise<{ records: StoredRecord[]; total: number }> {
  const { txRef, status, currency, network, customer, txHash } = query;
  const isFiltered = [txRef, status, currency, network, customer, txHash].some((one) => one !== undefined);
  return isFiltered ? listFiltered(reader, scope, query) : listAll(reader, scope, query);
}

async function listFiltered(
  reader: Reader,
  scope: Scope,
  query: PageRequest & PaymentFilter,
): Promise<{ records: StoredRecord[]; total: number }> {
  const hasLookUp = query.txRef !== undefined || query.txHash !== undefined;
  const matching = reader
    .selectFrom('payments')
    .select('payments.id')
    // The look-ups are within the scope already. With the scope in the condition as well, SQLite would rather scan all
    // payments of the merchant, because it has no statistics.
    .where(hasLookUp ? isCreatedWithin('payments', query) : isListed('payments', scope, query))
    .where((e) => e.and([...lookUps(e, scope, query), ...filters(e, query)]));
  const { rows, total } = await readPage(matching, 'payments', query);
  if (rows.length === 0) return { records: [], total };
  const ids = rows.map(({ id }) => id);
  return { records: await inOrder(reader, ids), total };
}

async function listAll(
  reader: Reader,
  scope: Scope,
  range: PageRequest,
): Promise<{ records: StoredRecord[]; total: number }> {
  const { total, limit, offset, start } = await locatePage(reader, 'payments', scope, range);
  if (limit === 0) return { records: [], total };
  // The subquery finds the page's ids in the index alone, so that skipped rows are never read.
  const ids = reader
    .selectFrom('payments')
    .select('payments.id')
    .where('payments.merchant_id', '=', scope.merchantId)
    .where('payments.mode', '=', scope.mode)
    .where(startsAt(start, 'payments'))
    .orderBy('payments.created_at', 'desc')
    .orderBy('payments.id', 'desc')
    .limit(limit)
    .offset(offset);
  return { records: await inOrder(reader, ids), total };
}

/** The payments with these ids, newest first. */
async function inOrder(
  reader: Reader,
  ids: readonly string[] | SelectQueryBuilder<Schema, 'payments', { id: string }>,
): Promise<StoredRecord[]> {
  const rows = await selectRecords(reader)
    .selectAll('payments')
    .where('payments.id', 'in', ids)
    .orderBy('payments.created_at', 'desc')
    .orderBy('payments.id', 'desc')
    .execute();
  return rows.map(readParts);
}
