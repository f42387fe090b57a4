/** Finds the payments that are due to expire. */
import { sql, type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool } from 'kysely';
import type { Reader } from '../db/engine.js';
import { everyPage } from '../db/pages.js';
import { isOpen } from '../db/payment-status.js';
import type { Schema } from '../db/schema.js';
import type { Mode } from '../shared/scope.js';
import { paymentsWithCursor, type PaymentRow } from './store.js';

/**
 * Ids of the payments that are due to expire. Their deadline has passed, every block up to it has been read, and no
 * counting receipt that came in time waits for confirmations, or for a block that is still soon enough. If one does, the scan
 * that confirms or drops it also ends the payment.
 */
export async function* findOverdue(reader: Reader, mode: Mode, realNow: number): AsyncGenerator<string> {
  // A payment that is due in real time is also due on every merchant's clock, because that is never behind.
  yield* idsOf(everyPage(pageSize, (last) => overdueAfter(reader, mode, realNow, last)));
  if (mode === 'test') {
    yield* idsOf(everyPage(pageSize, (last) => overdueOnMovedClocks(reader, realNow, last)));
  }
}

type Overdue = Pick<PaymentRow, 'id' | 'expires_at'>;

const pageSize = 100;

async function* idsOf(pages: AsyncIterable<readonly Overdue[]>): AsyncGenerator<string> {
  for await (const page of pages) yield* page.map(({ id }) => id);
}

/**
 * Finds overdue payments of merchants who moved their test clock, except those that are due in real time anyway. Reads one range of an index
 * per merchant: with a plain join, SQLite may read all open payments instead.
 */
function overdueOnMovedClocks(reader: Reader, realNow: number, last: Overdue | undefined) {
  return reader
    .selectFrom('test_clocks')
    .crossJoin('payments')
    .leftJoin('chain_cursors', (join) =>
      join
        .onRef('chain_cursors.mode', '=', 'payments.mode')
        .onRef('chain_cursors.network', '=', 'payments.network'),
    )
    .select(['payments.id', 'payments.expires_at'])
    .whereRef('payments.merchant_id', '=', 'test_clocks.merchant_id')
    .where('payments.mode', '=', sql.lit('test'))
    .where(isOpen)
    .where('payments.expires_at', '>', realNow)
    .where('payments.expires_at', '<=', sql<number>`test_clocks.offset_ms + cast(${realNow} as bigint)`)
    .where('payments.wallet_id', 'is', null)
    .where((e) =>
      e.or([
        e('payments.locked_at', 'is', null),
        e.and([
          e('chain_cursors.read_until', '>=', e.ref('test_clocks.moved_at')),
          e(
            sql<number>`chain_cursors.read_until + test_clocks.offset_ms`,
            '>=',
            e.ref('payments.expires_at'),
          ),
        ]),
      ]),
    )
    .where(awaitsNoReceipt(sql`chain_cursors.read_until + test_clocks.offset_ms`))
    .where(comesAfter(last))
    .orderBy('payments.expires_at')
    .orderBy('payments.id')
    .limit(pageSize)
    .execute();
}

/** Starts after the previous page, so that a payment that fails to expire is not read again and again. */
function comesAfter(last: Overdue | undefined) {
  return (e: ExpressionBuilder<Schema, 'payments'>): Expression<SqlBool> =>
    last
      ? e(e.refTuple('payments.expires_at', 'payments.id'), '>', e.tuple(last.expires_at, last.id))
      : e.lit(true);
}

/**
 * No counting receipt that came in time waits for confirmations, or can still get into a block in time.
 * @param readUntil up to when the network was read, on the merchant's clock
 */
function awaitsNoReceipt(readUntil: RawBuilder<number>) {
  return (e: ExpressionBuilder<Schema, 'payments'>) =>
    e.not(
      e.exists(
        e
          .selectFrom('receipts')
          .select('receipts.id')
          .whereRef('receipts.payment_id', '=', 'payments.id')
          .whereRef('receipts.currency', '=', 'payments.currency')
          .whereRef('receipts.network', '=', 'payments.network')
          .whereRef('receipts.first_seen_at', '<=', 'payments.expires_at')
          .where('receipts.awaited_until', '>', readUntil)
          .where('receipts.status', '=', 'seen'),
      ),
    );
}

function overdueAfter(reader: Reader, mode: Mode, now: number, last: Overdue | undefined) {
  return (
    paymentsWithCursor(reader)
      .select(['payments.id', 'payments.expires_at'])
      .where('payments.mode', '=', mode)
      .where(isOpen)
      .where('payments.expires_at', '<=', now)
      // A deposit to a wallet has no deadline.
      .where('payments.wallet_id', 'is', null)
      .where((e) =>
        e.or([
          e('payments.locked_at', 'is', null),
          e('chain_cursors.read_until', '>=', e.ref('payments.expires_at')),
        ]),
      )
      .where(awaitsNoReceipt(sql`chain_cursors.read_until`))
      .where(comesAfter(last))
      .orderBy('payments.expires_at')
      .orderBy('payments.id')
      .limit(pageSize)
      .execute()
  );
}
