/** Reads payments and receipts in pages, for exports. */
import { inChunks } from '../db/chunks.js';
import type { Reader } from '../db/engine.js';
import { everyPage, isCreatedWithin } from '../db/pages.js';
import type { PaymentTable } from '../db/schema.js';
import type { PageRequest } from '../shared/pagination.js';
import type { Scope } from '../shared/scope.js';
import { groupBy } from '../shared/group-by.js';

const pageSize = 500;

export type ExportRange = Pick<PageRequest, 'from' | 'to'>;

/** Oldest first, by keyset: the thousandth page costs as much as the first. */
export function pages(
  reader: Reader,
  { merchantId, mode }: Scope,
  range: ExportRange,
): AsyncGenerator<PaymentTable[]> {
  return everyPage(pageSize, (after) =>
    reader
      .selectFrom('payments')
      .selectAll()
      .where((e) => e.and({ merchant_id: merchantId, mode }))
      .where(isCreatedWithin('payments', range))
      .where((e) =>
        after ? e(e.refTuple('created_at', 'id'), '>', e.tuple(after.created_at, after.id)) : e.lit(true),
      )
      .orderBy('created_at')
      .orderBy('id')
      .limit(pageSize)
      .execute(),
  );
}

/** The receipts of payments, oldest first, by payment. */
export async function receiptsOf(reader: Reader, paymentIds: readonly string[]) {
  const rows = await inChunks(paymentIds, (chunk) =>
    reader
      .selectFrom('receipts')
      .selectAll()
      .where('payment_id', 'in', chunk)
      .orderBy('first_seen_at')
      .orderBy('id')
      .execute(),
  );
  return groupBy(rows, (row) => row.payment_id);
}

/** The refunds of payments, oldest first, by payment, each with when its transfer first succeeded. */
export async function refundsOf(reader: Reader, paymentIds: readonly string[]) {
  const rows = await inChunks(paymentIds, (chunk) =>
    reader
      .selectFrom('refunds')
      .leftJoin('transfers', 'transfers.refund_id', 'refunds.id')
      .selectAll('refunds')
      .select('transfers.settled_at')
      .where('refunds.payment_id', 'in', chunk)
      .orderBy('refunds.created_at')
      .orderBy('refunds.id')
      .execute(),
  );
  return groupBy(rows, (row) => row.payment_id);
}
