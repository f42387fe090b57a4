/** SQL of refunds for the core's queries about payments, and for the checks of the ledger. */
import { expressionBuilder, sql } from 'kysely';
import { accountOf, added, merchant, taken } from '../../core/audit/flows.js';
import { inChunks } from '../../core/db/chunks.js';
import type { QueryParts } from '../../core/db/query-parts.js';
import type { Schema } from '../../core/db/schema.js';
import { valuesOf } from '../../core/db/values.js';
import { checkRefunds } from './check-refunds.js';
import { refundTables } from './tables.js';

const refunds = valuesOf(refundTables.refunds);

const ofPayment = () =>
  expressionBuilder<Schema, 'payments'>()
    .selectFrom('refunds')
    .whereRef('refunds.payment_id', '=', 'payments.id');

const reserved = accountOf('reserved', 'network', 'merchant_id');
/** From its approval on, a refund's transfer holds what it takes. */
const isWaiting = `status in ('awaiting_address', 'awaiting_approval')`;
/** An excess that goes back has no service fee. */
const hasFeeBack = `fee_returns % 2 = 1`;

export const refundParts: QueryParts = {
  refunds: {
    rows: () =>
      ofPayment()
        .select(['refunds.id', 'refunds.status', 'refunds.amount', 'refunds.currency', 'refunds.network'])
        .select(['refunds.tx_hash', 'refunds.used', 'refunds.of_success'])
        .select(['refunds.service_fee', 'refunds.refund_fee'])
        .orderBy('refunds.created_at')
        .orderBy('refunds.id'),
    read: refunds.decode,
    // Counted, because PostgreSQL would read all refunds for a `not exists`.
    countKept: () =>
      ofPayment()
        .select((e) => e.fn.countAll<number>().as('count'))
        .where('refunds.status', 'not in', ['cancelled', 'expired', 'failed']),
    mark: () => ofPayment().select(sql<string>`concat(count(*), ' ', max(refunds.updated_at))`.as('mark')),
    list: async (reader, paymentIds) => {
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
      return rows.map(refunds.decode);
    },
    find: (reader, ids) =>
      inChunks(ids, (chunk) =>
        reader
          .selectFrom('refunds')
          .where('id', 'in', chunk)
          .select(['id', 'payment_id', 'network', 'network_fee'])
          .execute(),
      ),
  },
  flows: {
    reserved: [added(reserved, 'refunds', 'amount', isWaiting), added(reserved, 'refunds', 'fee', isWaiting)],
    fee_income: [taken(accountOf('fee_income'), 'refunds', 'service_fee', hasFeeBack)],
    merchant: [added(merchant, 'refunds', 'service_fee', hasFeeBack)],
  },
  checks: [
    [
      'Every refund has one hold, given back if it ended before its approval, and then a transfer like it',
      checkRefunds,
    ],
  ],
  // All of its money was credited bit by bit before a refund let go of the missing part.
  hasNothingToSettle: () =>
    expressionBuilder<Schema, 'payments'>().exists(
      ofPayment()
        .select('refunds.id')
        .where('refunds.of_success', '=', 0)
        .where('refunds.status', 'in', ['cancelled', 'failed']),
    ),
};
