/** What is kept of a payment, and how. */
import type { Reader, Transaction } from '../db/database.js';
import { jsonRows, readRows } from '../db/json.js';
import { locatePage, startsAt } from '../db/list-marks.js';
import { forUpdate } from '../db/locks.js';
import type { PageRequest } from '../db/pages.js';
import { prepared } from '../db/prepared.js';
import type { LogEntryTable, Mode, PaymentTable, ReceiptTable } from '../db/schema.js';

export type PaymentRow = PaymentTable;
export type NewLogEntry = Pick<LogEntryTable, 'type' | 'event'>;

const receiptColumns = [
  'receipts.id',
  'receipts.payment_id',
  'receipts.merchant_id',
  'receipts.address',
  'receipts.network',
  'receipts.currency',
  'receipts.tx_hash',
  'receipts.output_index',
  'receipts.amount',
  'receipts.senders',
  'receipts.first_seen_at',
  'receipts.block_height',
  'receipts.block_hash',
  'receipts.status',
  'receipts.confirmed_at',
  'receipts.reversals',
  'receipts.is_credited',
  'receipts.naira_value',
  'receipts.dollar_value',
  'receipts.base_value',
] as const satisfies `receipts.${keyof ReceiptTable}`[];

/** @returns false when the merchant has a payment of this reference in this mode */
export async function insertPayment(transaction: Transaction, row: PaymentRow): Promise<boolean> {
  const result = await transaction
    .insertInto('payments')
    .values(row)
    .onConflict((conflict) => conflict.columns(['merchant_id', 'mode', 'tx_ref']).doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Whose payments a caller may see. */
export interface Scope {
  readonly merchantId: string;
  readonly mode: Mode;
}

export type LogRow = Pick<LogEntryTable, 'time' | 'type' | 'event'>;

/** A payment with all that is shown of it. */
export interface StoredRecord extends PaymentRow {
  /** Oldest first. */
  readonly log: LogRow[];
  /** On their chain or waiting to be; lost ones are not facts any more. */
  readonly receipts: ReceiptTable[];
  /** Up to which block its network was scanned. */
  readonly scanned_height: number | null;
}

function selectRecords(reader: Reader) {
  return reader
    .selectFrom('payments')
    .selectAll('payments')
    .select((e) => [
      jsonRows(
        reader,
        e
          .selectFrom('log_entries')
          .select(['time', 'type', 'event'])
          .whereRef('log_entries.payment_id', '=', 'payments.id')
          .orderBy('log_entries.id'),
      ).as('log'),
      jsonRows(
        reader,
        e
          .selectFrom('receipts')
          .select(receiptColumns)
          .whereRef('receipts.payment_id', '=', 'payments.id')
          .where('receipts.status', 'in', ['seen', 'confirmed'])
          .orderBy('receipts.first_seen_at')
          .orderBy('receipts.id'),
      ).as('receipts'),
      e
        .selectFrom('chain_cursors')
        .select('chain_cursors.height')
        .whereRef('chain_cursors.network', '=', 'payments.network')
        .as('scanned_height'),
    ]);
}

function readRecord(row: StoredRecord): StoredRecord {
  return { ...row, log: readRows(row.log), receipts: readRows(row.receipts) };
}

const findRecords = prepared((reader, id: string, merchantId: string, mode: string) =>
  selectRecords(reader)
    .where('payments.id', '=', id)
    .where('payments.merchant_id', '=', merchantId)
    // The argument is a mode; queries are prepared with values of any text.
    .where('payments.mode', '=', mode as Mode),
);

export async function findRecord(
  reader: Reader,
  scope: Scope,
  id: string,
): Promise<StoredRecord | undefined> {
  const [row] = await findRecords(reader, id, scope.merchantId, scope.mode);
  return row && readRecord(row);
}

/** Whose payment it is, for pages that are opened by its id alone. */
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
): Promise<Pick<PaymentRow, 'id'> | undefined> {
  return reader
    .selectFrom('payments')
    .select('id')
    .where('merchant_id', '=', scope.merchantId)
    .where('mode', '=', scope.mode)
    .where('tx_ref', '=', txRef)
    .executeTakeFirst();
}

/** The payment of an id, whoever's it is, locked until the transaction ends. */
export function lockPayment(transaction: Transaction, id: string): Promise<PaymentRow | undefined> {
  return transaction
    .selectFrom('payments')
    .selectAll()
    .where('id', '=', id)
    .$call(forUpdate(transaction))
    .executeTakeFirst();
}

export async function updatePayment(
  transaction: Transaction,
  id: string,
  changes: Partial<PaymentRow>,
): Promise<void> {
  await transaction.updateTable('payments').set(changes).where('id', '=', id).execute();
}

export async function appendLog(
  transaction: Transaction,
  paymentId: string,
  time: number,
  entries: readonly NewLogEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await transaction
    .insertInto('log_entries')
    .values(entries.map((entry) => ({ payment_id: paymentId, time, ...entry })))
    .execute();
}

/** Receipts that are on their chain or waiting to be; lost ones are not facts any more. */
export function readReceipts(reader: Reader, paymentId: string): Promise<ReceiptTable[]> {
  return reader
    .selectFrom('receipts')
    .selectAll()
    .where('payment_id', '=', paymentId)
    .where('status', 'in', ['seen', 'confirmed'])
    .orderBy('first_seen_at')
    .orderBy('id')
    .execute();
}

export async function listRecords(
  reader: Reader,
  scope: Scope,
  range: PageRequest,
): Promise<{ records: StoredRecord[]; total: number }> {
  const { total, limit, offset, start } = await locatePage(reader, 'payments', scope, range);
  if (limit === 0) return { records: [], total };
  // The page's ids come from the index alone, so that rows which are passed over are never read.
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
  const rows = await selectRecords(reader)
    .where('payments.id', 'in', ids)
    .orderBy('payments.created_at', 'desc')
    .orderBy('payments.id', 'desc')
    .execute();
  return { records: rows.map(readRecord), total };
}

/**
 * Payments whose time is over and that nothing holds open: their network has been read past the deadline,
 * and no receipt that came in time and counts waits for confirmations (when one does, the scan that ends the wait
 * ends the payment too).
 */
export async function* findOverdue(reader: Reader, mode: Mode, now: number): AsyncGenerator<string> {
  let last: Pick<PaymentRow, 'id' | 'expires_at'> | undefined;
  do {
    const rows = await overdueAfter(reader, mode, now, last);
    for (const { id } of rows) yield id;
    last = rows.at(-1);
  } while (last);
}

function overdueAfter(
  reader: Reader,
  mode: Mode,
  now: number,
  last: Pick<PaymentRow, 'id' | 'expires_at'> | undefined,
): Promise<Pick<PaymentRow, 'id' | 'expires_at'>[]> {
  return (
    reader
      .selectFrom('payments')
      .leftJoin('chain_cursors', 'chain_cursors.network', 'payments.network')
      .select(['payments.id', 'payments.expires_at'])
      .where('payments.mode', '=', mode)
      .where('payments.state', 'in', [
        'created',
        'currency_set',
        'awaiting_funds',
        'partially_paid',
        'confirming',
      ])
      .where('payments.expires_at', '<=', now)
      // A deposit to a wallet has no deadline.
      .where('payments.wallet_id', 'is', null)
      .where((e) =>
        e.or([
          e('payments.locked_at', 'is', null),
          e('chain_cursors.synced_at', '>=', e.ref('payments.expires_at')),
        ]),
      )
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('receipts')
              .select('receipts.id')
              .whereRef('receipts.payment_id', '=', 'payments.id')
              .whereRef('receipts.currency', '=', 'payments.currency')
              .whereRef('receipts.network', '=', 'payments.network')
              .whereRef('receipts.first_seen_at', '<=', 'payments.expires_at')
              .where('receipts.status', '=', 'seen'),
          ),
        ),
      )
      // From where the page before it ended, so that one that cannot be ended is not met again and again.
      .where((e) =>
        last
          ? e(e.refTuple('payments.expires_at', 'payments.id'), '>', e.tuple(last.expires_at, last.id))
          : e.lit(true),
      )
      .orderBy('payments.expires_at')
      .orderBy('payments.id')
      .limit(100)
      .execute()
  );
}

/** Up to what time of its mode's clock a network was read; undefined where it never was. */
export async function readSyncedAt(reader: Reader, network: string): Promise<number | undefined> {
  const cursor = await reader
    .selectFrom('chain_cursors')
    .select('synced_at')
    .where('network', '=', network)
    .executeTakeFirst();
  return cursor?.synced_at;
}
