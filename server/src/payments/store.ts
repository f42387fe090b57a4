/** What is kept of a payment, and how. */
import type { Reader, Transaction } from '../db/database.js';
import { forUpdate } from '../db/locks.js';
import type { LogEntryTable, Mode, PaymentTable, ReceiptTable } from '../db/schema.js';

export type PaymentRow = PaymentTable;
export type NewLogEntry = Pick<LogEntryTable, 'type' | 'event'>;

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

export function findPayment(reader: Reader, scope: Scope, id: string): Promise<PaymentRow | undefined> {
  return reader
    .selectFrom('payments')
    .selectAll()
    .where('id', '=', id)
    .where('merchant_id', '=', scope.merchantId)
    .where('mode', '=', scope.mode)
    .executeTakeFirst();
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

export type LogRow = Pick<LogEntryTable, 'payment_id' | 'time' | 'type' | 'event'>;

export function readLogs(reader: Reader, paymentIds: readonly string[]): Promise<LogRow[]> {
  const query = reader.selectFrom('log_entries').select(['payment_id', 'time', 'type', 'event']);
  const [only] = paymentIds;
  const filtered =
    paymentIds.length === 1 && only !== undefined
      ? query.where('payment_id', '=', only)
      : query.where('payment_id', 'in', [...paymentIds]);
  return filtered.orderBy('id').execute();
}

/** Receipts that are on their chain or waiting to be; lost ones are not facts any more. */
export function readReceipts(reader: Reader, paymentIds: readonly string[]): Promise<ReceiptTable[]> {
  return reader
    .selectFrom('receipts')
    .selectAll()
    .where('payment_id', 'in', [...paymentIds])
    .where('status', 'in', ['seen', 'confirmed'])
    .orderBy('first_seen_at')
    .orderBy('id')
    .execute();
}

export interface PageRequest {
  /** 1-based. */
  readonly page: number;
  /** Rows per page. */
  readonly skip: number;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export async function listPayments(
  reader: Reader,
  scope: Scope,
  { page, skip, from, to }: PageRequest,
): Promise<{ rows: PaymentRow[]; total: number }> {
  let query = reader
    .selectFrom('payments')
    .where('merchant_id', '=', scope.merchantId)
    .where('mode', '=', scope.mode);
  if (from !== undefined) query = query.where('created_at', '>=', from);
  if (to !== undefined) query = query.where('created_at', '<=', to);
  const { total } = await query
    .select((e) => e.fn.countAll<number | string>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await query
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(skip)
    .offset((page - 1) * skip)
    .execute();
  return { rows, total: Number(total) };
}

/**
 * Payments whose time is over and that nothing holds open: their network has been read past the deadline,
 * and no receipt waits for confirmations (when one does, the scan that ends the wait ends the payment too).
 */
export async function findOverdue(reader: Reader, mode: Mode, now: number, limit: number): Promise<string[]> {
  const rows = await reader
    .selectFrom('payments')
    .leftJoin('chain_cursors', 'chain_cursors.network', 'payments.network')
    .select('payments.id')
    .where('payments.mode', '=', mode)
    .where('payments.state', 'in', ['created', 'currency_set', 'awaiting_funds', 'partially_paid', 'confirming'])
    .where('payments.expires_at', '<=', now)
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
            .where('receipts.status', '=', 'seen'),
        ),
      ),
    )
    .orderBy('payments.expires_at')
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Where the scans of networks stand: the height that was read, and up to what time. */
export async function readCursors(reader: Reader): Promise<Map<string, Cursor>> {
  const rows = await reader.selectFrom('chain_cursors').select(['network', 'height', 'synced_at']).execute();
  return new Map(rows.map((row) => [row.network, { height: row.height, syncedAt: row.synced_at }]));
}

export interface Cursor {
  readonly height: number;
  readonly syncedAt: number;
}
