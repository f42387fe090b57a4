/** Payments as they are stored. */
import type { ExpressionBuilder } from 'kysely';
import { jsonRows, readRows } from '../db/json.js';
import { locatePage, startsAt } from '../db/list-checkpoints.js';
import { forUpdate } from '../db/locks.js';
import { prepared, preparedSend } from '../db/prepared.js';
import { chunksOf } from '../db/chunks.js';
import type { LogEntryTable, PaymentTable, ReceiptTable, Schema } from '../db/schema.js';
import type { Mode, Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { PageRequest } from '../shared/pagination.js';

export type PaymentRow = PaymentTable;
export type NewLogEntry = Pick<LogEntryTable, 'type' | 'event'>;

const receiptColumns = [
  'receipts.id',
  'receipts.payment_id',
  'receipts.merchant_id',
  'receipts.mode',
  'receipts.network',
  'receipts.address',
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

const insertRow = prepared((transaction, row: PaymentRow) =>
  transaction
    .insertInto('payments')
    .values(row)
    .onConflict((conflict) => conflict.columns(['merchant_id', 'mode', 'tx_ref']).doNothing())
    .returning('id'),
);

/** @returns false when the merchant has a payment of this reference in this mode */
export async function insertPayment(transaction: Transaction, row: PaymentRow): Promise<boolean> {
  return (await insertRow(transaction, row)).length === 1;
}

export type LogRow = Pick<LogEntryTable, 'time' | 'type' | 'event'>;

/** What belongs to a payment beside its own row. */
interface RecordParts {
  /** Oldest first. */
  readonly log: readonly LogRow[];
  /** All of them, dropped and reversed ones too, oldest first. */
  readonly receipts: readonly ReceiptTable[];
  /** Up to which block, and up to which time of its mode's clock, its network was read; null where it never was. */
  readonly scanned_height: number | null;
  readonly synced_at: number | null;
}

/** A payment with all that is shown of it and that its state depends on. */
export type StoredRecord = PaymentRow & RecordParts;

/** Of a payment that was just made. */
export const noParts: RecordParts = { log: [], receipts: [], scanned_height: null, synced_at: null };

type PaymentQuery = ExpressionBuilder<Schema, 'payments'>;

function selectParts(reader: Reader, e: PaymentQuery) {
  const cursor = e
    .selectFrom('chain_cursors')
    .whereRef('chain_cursors.mode', '=', 'payments.mode')
    .whereRef('chain_cursors.network', '=', 'payments.network');
  return [
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
        .orderBy('receipts.first_seen_at')
        .orderBy('receipts.id'),
    ).as('receipts'),
    cursor.select('chain_cursors.height').as('scanned_height'),
    cursor.select('chain_cursors.synced_at').as('synced_at'),
  ] as const;
}

function readParts<Row extends { log: LogRow[]; receipts: ReceiptTable[] }>(row: Row): Row {
  return { ...row, log: readRows(row.log), receipts: readRows(row.receipts) };
}

const findRows = prepared((reader, { id, merchantId, mode }: Scope & { readonly id: string }) =>
  reader
    .selectFrom('payments')
    .selectAll('payments')
    .select((e) => selectParts(reader, e))
    .where('payments.id', '=', id)
    .where('payments.merchant_id', '=', merchantId)
    .where('payments.mode', '=', mode),
);

export async function findRecord(
  reader: Reader,
  { merchantId, mode }: Scope,
  id: string,
): Promise<StoredRecord | undefined> {
  const [row] = await findRows(reader, { id, merchantId, mode });
  return row && readParts(row);
}

const lockRow = prepared((transaction, { id }: { readonly id: string }) =>
  transaction.selectFrom('payments').selectAll().where('id', '=', id).$call(forUpdate(transaction)),
);

const findParts = prepared((reader, { id }: { readonly id: string }) =>
  reader
    .selectFrom('payments')
    .select((e) => selectParts(reader, e))
    .where('payments.id', '=', id),
);

/**
 * The payment of an id, in whatever scope, locked until the transaction ends. What belongs to it is read by a second
 * statement, which sees what was committed while the first one waited for the lock.
 */
export async function lockRecord(transaction: Transaction, id: string): Promise<StoredRecord | undefined> {
  const [[row], [parts]] = await Promise.all([lockRow(transaction, { id }), findParts(transaction, { id })]);
  return row && parts && { ...row, ...readParts(parts) };
}

/** The payments of these ids, locked until the transaction ends. They are locked in one order, so that none deadlock. */
export async function lockRecords(
  transaction: Transaction,
  ids: readonly string[],
): Promise<Map<string, StoredRecord>> {
  const locked = new Map<string, StoredRecord>();
  for (const chunk of chunksOf([...new Set(ids)].sort())) {
    const rows = await transaction
      .selectFrom('payments')
      .selectAll()
      .where('id', 'in', chunk)
      .orderBy('id')
      .$call(forUpdate(transaction))
      .execute();
    const parts = await transaction
      .selectFrom('payments')
      .select('payments.id')
      .select((e) => selectParts(transaction, e))
      .where('payments.id', 'in', chunk)
      .execute();
    const partsOf = new Map(parts.map((part) => [part.id, readParts(part)]));
    for (const row of rows) {
      const found = partsOf.get(row.id);
      if (found) locked.set(row.id, { ...row, ...found });
    }
  }
  return locked;
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

/** @returns the entries as they are read back */
export async function appendLog(
  transaction: Transaction,
  paymentId: string,
  time: number,
  entries: readonly NewLogEntry[],
): Promise<readonly LogRow[]> {
  for (const { type, event } of entries) {
    await insertLogEntry(transaction, { payment_id: paymentId, time, type, event });
  }
  return entries.map(({ type, event }) => ({ time, type, event }));
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
  const rows = await reader
    .selectFrom('payments')
    .selectAll('payments')
    .select((e) => selectParts(reader, e))
    .where('payments.id', 'in', ids)
    .orderBy('payments.created_at', 'desc')
    .orderBy('payments.id', 'desc')
    .execute();
  return { records: rows.map(readParts), total };
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
      .leftJoin('chain_cursors', (join) =>
        join
          .onRef('chain_cursors.mode', '=', 'payments.mode')
          .onRef('chain_cursors.network', '=', 'payments.network'),
      )
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
