/** The ledger's invariants for refunds: what each has reserved, and the transfer that pays it. */
import { sql } from 'kysely';
import { comparePostings, Report, type Check } from '../../core/audit/check-report.js';

export const checkRefunds: Check = async (reader, report) => {
  const checked = await comparePostings(
    reader,
    report,
    'refunds',
    ['refund-hold', 'refund-void', 'refund-fee'],
    reader.selectFrom('refunds').select(['id', 'status', 'fee_returns']),
    ({ id, status, fee_returns: returns }) => [
      `refund-hold:${id}`,
      ...(status === 'cancelled' || status === 'expired' ? [`refund-void:${id}`] : []),
      ...Array.from({ length: returns }, (_, index) =>
        index === 0 ? `refund-fee:${id}` : `refund-fee:${id}:${index}`,
      ),
    ],
  );
  const statusOf = sql`case transfers.status when 'success' then 'paid' when 'failed' then 'failed' else 'open' end`;
  const expected = sql`case when refunds.status in ('approved', 'processing') then 'open' else refunds.status end`;
  const differing = await reader
    .selectFrom('refunds')
    .leftJoin('transfers', 'transfers.refund_id', 'refunds.id')
    .where(
      sql<boolean>`case when refunds.status in ('approved', 'processing', 'paid', 'failed')
        then transfers.id is null or refunds.transfer_id <> transfers.id or ${statusOf} <> ${expected}
          or refunds.merchant_id <> transfers.merchant_id or refunds.mode <> transfers.mode
          or refunds.amount <> transfers.amount or refunds.fee <> transfers.fee
          or refunds.currency <> transfers.currency or refunds.network <> transfers.network
          or coalesce(refunds.tx_hash, '') <> coalesce(transfers.tx_hash, '')
        else transfers.id is not null end`,
    )
    .select('refunds.id')
    .limit(Report.limit)
    .execute();
  report.add(differing.map(({ id }) => `The refund ${id} differs from its transfer`));
  const wrongFees = await reader
    .selectFrom('refunds')
    .where(
      sql<boolean>`fee_returns % 2 <> case when kind = 'excess' and service_fee <> '0'
        and status not in ('cancelled', 'expired', 'failed') then 1 else 0 end`,
    )
    .select('id')
    .limit(Report.limit)
    .execute();
  report.add(wrongFees.map(({ id }) => `The service fee of the refund ${id} is not where its state says`));
  return checked;
};
