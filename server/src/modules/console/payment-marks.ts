/** Marks of payments: each differs from the previous one once anything has changed that a payment's page shows. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Reader } from '../../core/db/engine.js';
import { refundQueries } from '../../core/payments/refunds-of.js';
import { isWithin, type Scope } from '../../core/shared/scope.js';

/**
 * Covers each payment with its receipts and log, the blocks that unconfirmed receipts wait for, its refunds, its webhooks, and the staff's notes.
 * @returns a function that finds the mark of one; undefined if a merchant's mode has no such payment
 */
export async function readPaymentMarks(reader: Reader, ids: readonly string[]) {
  const refunds = refundQueries(reader)?.mark();
  const rows = await reader
    .selectFrom('payments')
    .select(['id', 'merchant_id', 'mode', 'state', 'updated_at', 'parts_version'])
    .select((e) => [
      e
        .selectFrom('chain_cursors')
        .select('height')
        .whereRef('chain_cursors.mode', '=', 'payments.mode')
        .whereRef('chain_cursors.network', '=', 'payments.network')
        .where((waiting) =>
          waiting.exists(
            waiting
              .selectFrom('receipts')
              .select('receipts.id')
              .whereRef('receipts.payment_id', '=', 'payments.id')
              .where('receipts.status', '=', 'seen'),
          ),
        )
        .as('height'),
      ...(refunds ? [refunds.as('refunds')] : []),
      e
        .selectFrom('outbox')
        .leftJoin('webhook_tries', 'webhook_tries.event_id', 'outbox.id')
        .select(
          sql<string>`concat(count(*), ' ', max(webhook_tries.tried_at), ' ', max(outbox.sequence), ' ', sum(outbox.tries))`.as(
            'mark',
          ),
        )
        .whereRef('outbox.subject_id', '=', 'payments.id')
        .as('webhooks'),
      e
        .selectFrom('payment_cases')
        .select('payment_cases.updated_at')
        .whereRef('payment_cases.id', '=', 'payments.id')
        .as('cased'),
    ])
    .where('id', 'in', ids)
    .execute();
  const known = new Map(rows.map(({ id, ...row }) => [id, row]));
  return (id: string, scope: Scope): string | undefined => {
    const row = known.get(id);
    return row && isWithin(row, scope) ? digestOf(row) : undefined;
  };
}

/** The mark of a page with this content. */
export const digestOf = (content: unknown): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('hex');
