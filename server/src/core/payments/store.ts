/** Stores payments. */
import type { LogValues, ModuleFields } from 'crypto-checkout/contract';
import { sql, type ExpressionBuilder } from 'kysely';
import { jsonRows, readRows } from '../db/json.js';
import { sumUnits } from '../db/units.js';
import { forUpdate } from '../db/locks.js';
import { isCreatedWithin } from '../db/pages.js';
import { prepared, preparedIn, preparedInserts, preparedSend } from '../db/prepared.js';
import { inChunks, smallChunk } from '../db/chunks.js';
import { countRows } from '../db/rows.js';
import { send } from '../db/send.js';
import { afterCommit } from '../db/transaction-context.js';
import { tables, type LogEntryTable, type PaymentRow, type ReceiptRow, type Schema } from '../db/schema.js';
import { valuesOf, type Failed } from '../db/values.js';
import { isWithin, scopeOf, type Scope } from '../shared/scope.js';
import { fieldQuery, readFields, type StoredField } from './module-fields.js';
import { refundQueries, type RefundOfPayment, type StoredRefund } from './refunds-of.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { PageRequest } from '../shared/pagination.js';
import { remember } from '../shared/remember.js';

export type { PaymentRow };

/** The columns that can always be read. */
export type PlainPayment = Pick<PaymentRow, 'id' | 'mode' | 'expires_at' | 'cancelled_at'>;

const payments = valuesOf(tables.payments);
const receiptRows = valuesOf(tables.receipts);

/** The columns of a payment until its currency is set and locked. */
export const unlocked = {
  currency: null,
  network: null,
  address_id: null,
  address: null,
  amount: null,
  fee: null,
  quote: null,
  required_confirmations: null,
  locked_at: null,
  cancelled_at: null,
  settled_at: null,
  accepted_at: null,
  accepted_amount: null,
  findings: [],
  public_changes: 0,
  public_changes_since: null,
  parts_version: 0,
} satisfies Partial<PaymentRow>;

/** An entry of the time log, to be added. */
export interface LogEntry extends Pick<LogEntryTable, 'type' | 'event' | 'code'> {
  /** The amounts (plain decimals), codes and counts that `event` names. */
  readonly values: LogValues;
}

/** A receipt as it is read with its payment. */
export type StoredReceipt = ReceiptRow & {
  /** The block up to which its own network was read; absent if the receipt was not read from the database. */
  readonly scanned_height?: number | null;
};

// SQLite needs the names to build JSON from them.
const receiptColumns = (Object.keys(tables.receipts.columns) as (keyof ReceiptRow)[]).map(
  (name) => `receipts.${name}` as const,
);

const insertOne = prepared((transaction, row: Schema['payments']) =>
  transaction
    .insertInto('payments')
    .values(row)
    .onConflict((conflict) => conflict.columns(['merchant_id', 'mode', 'tx_ref', 'created_by']).doNothing())
    .returning('id'),
);

/** @returns false if a key of the same kind already created a payment with this reference in this mode */
export async function insertPayment(transaction: Transaction, row: PaymentRow): Promise<boolean> {
  return (await insertOne(transaction, payments.encode(row))).length === 1;
}

export type LogRow = Pick<LogEntryTable, 'time' | 'type' | 'event' | 'code' | 'entry_values'>;

/** Similar receipts, summed up. */
export interface ReceiptSums extends Pick<
  StoredReceipt,
  'network' | 'currency' | 'status' | 'is_credited' | 'required_confirmations' | 'scanned_height'
> {
  readonly count: number;
  readonly amount: bigint;
  readonly credited_fee: bigint;
  readonly naira_value: bigint;
  readonly dollar_value: bigint;
  /** The highest block that has one of them; null if one of them waits for a block. */
  readonly block_height: number | null;
}

/** The data of a payment that other tables hold. Anybody can send it thousands of small transfers, so most are summed up. */
interface RecordParts {
  /** The newest entries, oldest first. */
  readonly log: readonly LogRow[];
  /** The number of entries. */
  readonly log_count: number;
  /** The newest receipts that are not dust, including dropped and reversed ones, oldest first. */
  readonly receipts: readonly StoredReceipt[];
  /** All receipts. */
  readonly sums: readonly ReceiptSums[];
  /** All refunds, oldest first. */
  readonly refunds: readonly RefundOfPayment[];
  /** The fields of its record that modules add. */
  readonly fields: ModuleFields;
  /** The block up to which its network was read; null if it never was. */
  readonly scanned_height: number | null;
}

/** A payment with everything that its view depends on. */
export type StoredRecord = PaymentRow & RecordParts;

/** The parts of a new payment. */
export const noParts: RecordParts = {
  log: [],
  log_count: 0,
  receipts: [],
  sums: [],
  refunds: [],
  fields: {},
  scanned_height: null,
};

/** The number of log entries and receipts that are read with a payment. All of them are on the pages of their own lists. */
const mostEntries = 50;
const mostReceipts = 20;

/** A payment with entries that were just added to its log, as it is read from now on. */
export function withLog(record: StoredRecord, added: readonly LogRow[]): StoredRecord {
  const log = [...record.log, ...added].slice(-mostEntries);
  return { ...record, log, log_count: record.log_count + added.length };
}

/** A record without the last entry of its log. */
export function withoutLastEntry(record: StoredRecord): StoredRecord {
  return { ...record, log: record.log.slice(0, -1), log_count: record.log_count - 1 };
}

/** Payments, each with how far its network was read. */
export const paymentsWithCursor = (reader: Reader) =>
  reader
    .selectFrom('payments')
    .leftJoin('chain_cursors', (join) =>
      join
        .onRef('chain_cursors.mode', '=', 'payments.mode')
        .onRef('chain_cursors.network', '=', 'payments.network'),
    );

/** Starts a query that reads payments with their parts. */
function selectRecords(reader: Reader) {
  const refunds = refundQueries(reader);
  const fields = fieldQuery(reader);
  return paymentsWithCursor(reader).select((e) => [
    'payments.id',
    'chain_cursors.height as scanned_height',
    jsonRows(
      reader,
      e
        .selectFrom('log_entries')
        .select(['time', 'type', 'event', 'code', 'entry_values'])
        .whereRef('log_entries.payment_id', '=', 'payments.id')
        .orderBy('log_entries.id', 'desc')
        .limit(sql.lit(mostEntries)),
    ).as('log'),
    e
      .selectFrom('log_entries')
      .select(sql<number>`count(*)`.as('count'))
      .whereRef('log_entries.payment_id', '=', 'payments.id')
      .as('log_count'),
    jsonRows(
      reader,
      e
        .selectFrom('receipts')
        .select(receiptColumns)
        .select(ownHeight)
        .whereRef('receipts.payment_id', '=', 'payments.id')
        .where('receipts.is_dust', '=', sql.lit(0))
        .orderBy('receipts.first_seen_at', 'desc')
        // Blocks of one second have the same time.
        .orderBy('receipts.block_height', 'desc')
        .orderBy('receipts.id', 'desc')
        .limit(sql.lit(mostReceipts)),
    ).as('receipts'),
    jsonRows(
      reader,
      e
        .selectFrom('receipts')
        .select((r) => [
          ...alike,
          r.fn.countAll<number>().as('count'),
          sumUnits(reader, 'receipts.amount').as('amount'),
          sumUnits(reader, 'receipts.credited_fee').as('credited_fee'),
          sumUnits(reader, 'receipts.naira_value').as('naira_value'),
          sumUnits(reader, 'receipts.dollar_value').as('dollar_value'),
          sql<
            number | null
          >`case when count(*) = count(receipts.block_height) then max(receipts.block_height) end`.as(
            'block_height',
          ),
          ownHeight(r),
        ])
        .whereRef('receipts.payment_id', '=', 'payments.id')
        .groupBy([...alike, 'receipts.mode']),
    ).as('sums'),
    (refunds ? jsonRows(reader, refunds.rows()) : sql<StoredRefund[]>`'[]'`).as('refunds'),
    (fields ? jsonRows(reader, fields) : sql<StoredField[]>`'[]'`).as('fields'),
  ]);
}

/** The columns that summed receipts have in common. */
const alike = [
  'receipts.network',
  'receipts.currency',
  'receipts.status',
  'receipts.is_credited',
  'receipts.required_confirmations',
] as const;

/** The block up to which a receipt's own network was read. */
function ownHeight(receipts: ExpressionBuilder<Schema, 'receipts'>) {
  return receipts
    .selectFrom('chain_cursors as own')
    .select('own.height')
    .whereRef('own.mode', '=', 'receipts.mode')
    .whereRef('own.network', '=', 'receipts.network')
    .as('scanned_height');
}

/** Lists are read newest first, as far as they are read. */
function readParts<Row extends Awaited<ReturnType<typeof findParts>>[number]>(reader: Reader, row: Row) {
  const refunds = refundQueries(reader);
  return {
    ...row,
    log: readRows(row.log).reverse(),
    log_count: row.log_count ?? 0,
    receipts: readRows(row.receipts).reverse().map(receiptRows.decode),
    sums: readRows(row.sums).map(receiptRows.decode),
    refunds: readRows(row.refunds).flatMap((refund) => refunds?.read(refund) ?? []),
    fields: readFields(readRows(row.fields)),
  };
}

/** Decodes a payment with its parts. */
const readRecord = (reader: Reader, row: Awaited<ReturnType<typeof findById>>[number]): StoredRecord =>
  payments.decode(readParts(reader, row));

// Looks up by primary key only. With the scope in the condition, PostgreSQL may scan all payments of the merchant as
// long as it has no statistics for a new table.
const findById = prepared((reader, { id }: { readonly id: string }) =>
  selectRecords(reader).selectAll('payments').where('payments.id', '=', id),
);

async function findRecord(reader: Reader, scope: Scope | undefined, id: string) {
  const [row] = await findById(reader, { id });
  return row && (!scope || isWithin(row, scope)) ? readRecord(reader, row) : undefined;
}

/** The number of payments that a server keeps: those of the last seconds, whose payers choose and lock. Each takes memory and slows every garbage collection. */
const mostKept = 400;

/**
 * Keeps payments with their parts until they change: a payer's requests follow each other, pages ask every few seconds, and
 * anybody can send a payment so much that its parts take long to read.
 */
export function createRecords() {
  /** In the order in which they were read or written. */
  const kept = new Map<string, StoredRecord>();

  function keep(record: StoredRecord): void {
    if (isKeepable(record)) remember(kept, record.id, record, mostKept);
  }

  return {
    /** @param scope undefined for pages that know only the id */
    async find(reader: Reader, scope: Scope | undefined, id: string): Promise<StoredRecord | undefined> {
      // Data that a transaction reads may never be committed.
      if (reader.isTransaction) return findRecord(reader, scope, id);
      const cached = kept.get(id);
      if (cached) {
        const [now] = await findVersion(reader, { id });
        if (!now || (scope && !isWithin(now, scope))) return undefined;
        const { scanned_height } = now;
        if (isSame(now, cached))
          return cached.scanned_height === scanned_height ? cached : { ...cached, scanned_height };
        kept.delete(id);
      }
      const record = await findRecord(reader, scope, id);
      if (record) keep(record);
      return record;
    },

    /** Locks a payment of any merchant and mode until the transaction ends. */
    async lock(transaction: Transaction, id: string): Promise<StoredRecord | undefined> {
      // A second statement reads the parts, so that it sees what was committed while the first one waited for the lock.
      const cached = kept.get(id);
      const read = () => findParts(transaction, { id });
      const [[row], unkept] = await Promise.all([lockRow(transaction, { id }), cached ? undefined : read()]);
      if (!row) return undefined;
      const payment = payments.decode(row);
      if (cached && isSame(payment, cached)) return { ...cached, ...payment };
      const [parts] = unkept ?? (await read());
      return parts && { ...payment, ...readParts(transaction, parts) };
    },

    /** Keeps the parts of a payment that the running transaction writes, if it commits. */
    keepWritten: (transaction: Transaction, record: StoredRecord) =>
      afterCommit(transaction, () => keep(record)),
  };
}

/**
 * A mark that shows if a payment that is read again looks as it did before: every change raises its version, and the
 * depth of its transfers follows from the height that its network was read to. Undefined if that cannot be known.
 */
export function markOf(record: StoredRecord): string | undefined {
  if (!isKeepable(record)) return undefined;
  const isDeepening = record.sums.some(({ status }) => status === 'seen');
  return `${record.parts_version} ${record.updated_at}${isDeepening ? ` ${record.scanned_height}` : ''}`;
}

/**
 * True if neither differs from the other. The version is not enough: after a failover to a standby that lacked a change, the next change
 * gets the same one.
 */
function isSame(now: Pick<PaymentRow, 'parts_version' | 'updated_at'>, cached: StoredRecord): boolean {
  return now.parts_version === cached.parts_version && now.updated_at === cached.updated_at;
}

/** The depths of receipts on other networks change with each of their blocks. */
function isKeepable({ sums, network }: StoredRecord): boolean {
  return sums.every((one) => one.network === network || one.status !== 'seen');
}

const findVersion = prepared((reader, { id }: { readonly id: string }) =>
  paymentsWithCursor(reader)
    .select(['payments.merchant_id', 'payments.mode', 'payments.parts_version', 'payments.updated_at'])
    .select('chain_cursors.height as scanned_height')
    .where('payments.id', '=', id),
);

const findRow = prepared((reader, { id }: { readonly id: string }) =>
  paymentsWithCursor(reader)
    .selectAll('payments')
    .select('chain_cursors.height as scanned_height')
    .where('payments.id', '=', id),
);

/** A payment, and how far its network was read, without the rest of its parts. */
async function findPlainRecord(reader: Reader, scope: Scope | undefined, id: string) {
  const [row] = await findRow(reader, { id });
  return row && (!scope || isWithin(row, scope)) ? payments.decode(row) : undefined;
}

const lockRow = prepared((transaction, { id }: { readonly id: string }) =>
  transaction
    .selectFrom('payments')
    .selectAll()
    .select((e) =>
      e
        .selectFrom('chain_cursors')
        .select('height')
        .whereRef('chain_cursors.mode', '=', 'payments.mode')
        .whereRef('chain_cursors.network', '=', 'payments.network')
        .as('scanned_height'),
    )
    .where('id', '=', id)
    .$call(forUpdate(transaction)),
);

const findParts = prepared((reader, { id }: { readonly id: string }) =>
  selectRecords(reader).where('payments.id', '=', id),
);

/** Locks a payment of any merchant and mode until the transaction ends, without reading its parts. */
export async function lockPayment(transaction: Transaction, id: string): Promise<PaymentRow | undefined> {
  const [row] = await lockRow(transaction, { id });
  return payments.decode(row);
}

/**
 * Locks payments until the transaction ends. All callers lock in the same order, so that they cannot deadlock. Call it
 * before locking anything that belongs to them.
 * @param failed takes those that cannot be read, which are locked too
 */
export async function lockPayments(
  transaction: Transaction,
  ids: readonly string[],
  failed: Failed<Schema['payments']>,
): Promise<PaymentRow[]> {
  const lock = async (chunk: readonly string[]) =>
    payments.decodeEach(await lockRows(transaction, chunk, {}), failed);
  return inChunks([...new Set(ids)].sort(), lock, smallChunk);
}

const lockRows = preparedIn((transaction, ids) =>
  transaction
    .selectFrom('payments')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('id')
    .$call(forUpdate(transaction)),
);

const findScope = prepared((reader, { id }: { readonly id: string }) =>
  reader.selectFrom('payments').select(['merchant_id', 'mode']).where('id', '=', id),
);
/** A payment of any merchant and mode, without locking it. */
export async function findPayment(reader: Reader, id: string): Promise<PaymentRow | undefined> {
  const [row] = await findRow(reader, { id });
  return payments.decode(row);
}

/** The merchant and mode of a payment, for pages that know only its id. */
export async function findOwner(reader: Reader, id: string): Promise<Scope | undefined> {
  const [row] = await findScope(reader, { id });
  return row && scopeOf(row);
}

export async function findPaymentByReference(
  reader: Reader,
  { merchantId, mode }: Scope,
  txRef: string,
  createdBy: PaymentRow['created_by'],
) {
  const found = reader
    .selectFrom('payments')
    .select(['id', 'accepted_currencies'])
    .where((e) => e.and({ merchant_id: merchantId, mode, tx_ref: txRef, created_by: createdBy }));
  return payments.decode(await found.executeTakeFirst());
}

const updateOne = preparedSend(
  (transaction, { id, ...changes }: { readonly id: string } & Partial<Schema['payments']>) =>
    transaction
      .updateTable('payments')
      .set({ ...changes, parts_version: nextVersion })
      .where('id', '=', id),
);

const nextVersion = sql<number>`parts_version + 1`;

export type PaymentChange = Partial<Omit<PaymentRow, 'id' | 'parts_version'>>;

export function updatePayment(transaction: Transaction, id: string, changes: PaymentChange): Promise<void> {
  return updateOne(transaction, { id, ...payments.encode(changes) });
}

const insertLogEntries = preparedInserts('log_entries');

/**
 * A caller that changes neither the payment nor its receipts with it calls `updatePayment` too, for its version.
 * @returns the new entries in the form in which they are read
 */
export async function appendLog(
  transaction: Transaction,
  paymentId: string,
  time: number,
  entries: readonly LogEntry[],
): Promise<readonly LogRow[]> {
  const rows = entries.map(({ type, event, code, values }) => ({
    time,
    type,
    event,
    code,
    entry_values: tables.log_entries.columns.entry_values.write(values),
  }));
  await insertLogEntries(
    transaction,
    rows.map((row) => ({ payment_id: paymentId, ...row })),
  );
  return rows;
}

/** Removes the last entry of a log, which the next one replaces. */
export async function removeLastEntry(transaction: Transaction, paymentId: string): Promise<void> {
  await send(
    transaction,
    transaction.deleteFrom('log_entries').where('id', '=', (e) =>
      e
        .selectFrom('log_entries')
        .select((last) => last.fn.max('id').as('id'))
        .where('payment_id', '=', paymentId),
    ),
  );
}

/** The payments with these ids, newest first. */
export async function readRecords(reader: Reader, ids: readonly string[]): Promise<StoredRecord[]> {
  const rows = await selectRecords(reader)
    .selectAll('payments')
    .where('payments.id', 'in', ids)
    .orderBy('payments.created_at', 'desc')
    .orderBy('payments.id', 'desc')
    .execute();
  return rows.map((row) => readRecord(reader, row));
}

/** A payment's whole log, oldest entry first. Undefined if there is no such payment. */
export async function listLog(reader: Reader, scope: Scope, id: string): Promise<LogRow[] | undefined> {
  if (!(await findPlainRecord(reader, scope, id))) return undefined;
  return reader
    .selectFrom('log_entries')
    .select(['time', 'type', 'event', 'code', 'entry_values'])
    .where('payment_id', '=', id)
    .orderBy('id')
    .execute();
}

/** The receipts that a transaction made for a payment. @param txHash lower case, without 0x */
export async function listReceiptsOf(reader: Reader, id: string, txHash: string): Promise<StoredReceipt[]> {
  const rows = await reader
    .selectFrom('receipts')
    .where('receipts.payment_id', '=', id)
    .where('receipts.tx_hash', 'in', [txHash, `0x${txHash}`])
    .select(receiptColumns)
    .select(ownHeight)
    .execute();
  return rows.map(receiptRows.decode);
}

/** The references of payments, by id. */
export async function findReferences(reader: Reader, ids: readonly string[]) {
  const rows = await inChunks([...new Set(ids)], (chunk) =>
    reader.selectFrom('payments').select(['id', 'tx_ref']).where('id', 'in', chunk).execute(),
  );
  return new Map(rows.map(({ id, tx_ref: txRef }) => [id, txRef]));
}

/** The receipts that a payment's merchant was credited with. */
export async function listCredited(reader: Reader, id: string) {
  const rows = await reader
    .selectFrom('receipts')
    .select(['currency', 'network', 'amount', 'credited_fee', 'base_rate', 'senders'])
    .where('payment_id', '=', id)
    .where('is_credited', '=', 1)
    .execute();
  return rows.map(receiptRows.decode);
}

/** A page of a payment's receipts with dust, oldest first. Undefined if there is no such payment. */
export async function listReceipts(
  reader: Reader,
  scope: Scope,
  id: string,
  { page, skip, ...range }: PageRequest,
) {
  const payment = await findPlainRecord(reader, scope, id);
  if (!payment) return undefined;
  const all = reader
    .selectFrom('receipts')
    .where('receipts.payment_id', '=', id)
    .where(isCreatedWithin('receipts', range, 'first_seen_at'));
  const rows = await all
    .select(receiptColumns)
    .select(ownHeight)
    .orderBy('receipts.first_seen_at')
    .orderBy('receipts.block_height')
    .orderBy('receipts.id')
    .limit(skip)
    .offset((page - 1) * skip)
    .execute();
  return { payment, rows: rows.map(receiptRows.decode), total: await countRows(all) };
}
