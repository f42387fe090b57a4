/** The ledger's invariants for withdrawals: transfers and their payouts, and payouts to banks. */
import { sql } from 'kysely';
import { sumUnits } from '../db/units.js';
import {
  comparePostings,
  compareToAccounts,
  Report,
  sumsBy,
  visitPages,
  type LedgerCheck,
} from './check-report.js';
import type { Reader } from '../db/engine.js';

/**
 * Each transfer has one hold, a post or a void once it has ended, a payout that matches it, an undone post if it was lost or
 * waits again, and an undone void if it was paid after it had failed.
 */
export async function checkTransfers(reader: Reader): Promise<LedgerCheck> {
  const report = new Report(
    'Every transfer has one hold, one post or void once it has ended, and a matching payout',
  );
  const checked = await visitPages(
    selectTransfers(reader),
    (page) => {
      for (const row of page) {
        const { id, status, held, posted, voided, undone, lost, back, payout } = row;
        const units = (BigInt(row.amount) + BigInt(row.fee)).toString();
        const wasSent = row.settled_at !== null;
        const isPayoutRight =
          payout === status || (payout === null && ['pending', 'failed'].includes(status));
        const but = `but the transfer is ${status}`;
        report.expect(held === units, `hold:${id} is ${held ?? 'missing'} instead of ${units}`);
        report.expect(
          posted === (wasSent ? units : null) && wasSent === (status === 'success' || lost !== null),
          `post:${id} is ${posted ?? 'missing'}, ${but}`,
        );
        report.expect(
          voided === ((status === 'failed' && !wasSent) || undone !== null ? units : null),
          `void:${id} is ${voided ?? 'missing'}, ${but}`,
        );
        report.expect(
          undone === null || (undone === units && wasSent),
          `undo:${id} is ${undone ?? 'missing'}, ${but}`,
        );
        report.expect(
          lost === (status === 'failed' && wasSent ? units : null),
          `lost:${id} is ${lost ?? 'missing'}, ${but}`,
        );
        report.expect(
          back === (row.reversals > 0 ? units : null),
          `back:${id} is ${back ?? 'missing'}, but the transfer has waited again ${row.reversals} times`,
        );
        report.expect(isPayoutRight, `The payout of ${id} is ${payout ?? 'missing'}, ${but}`);
      }
    },
    'transfers.id',
  );
  const differing = await reader
    .selectFrom('payouts')
    .innerJoin('transfers', 'transfers.id', 'payouts.transfer_id')
    .where(
      sql<boolean>`payouts.amount <> transfers.amount or payouts.fee <> transfers.fee
        or payouts.currency <> transfers.currency or payouts.merchant_id <> transfers.merchant_id
        or payouts.mode <> transfers.mode or coalesce(payouts.tx_hash, '') <> coalesce(transfers.tx_hash, '')`,
    )
    .select('payouts.id')
    .limit(Report.limit)
    .execute();
  report.add(differing.map(({ id }) => `The payout ${id} differs from its transfer`));
  for (const kind of ['hold', 'post', 'void', 'undo', 'lost', 'back']) {
    const orphans = await reader
      .selectFrom('ledger_postings as posting')
      .leftJoin('transfers', (join) => join.on('transfers.id', '=', sql<string>`substr(posting.key, 6, 26)`))
      .where('posting.key', 'like', `${kind}:%`)
      .where('transfers.id', 'is', null)
      .select('posting.key')
      .limit(Report.limit)
      .execute();
    report.add(orphans.map(({ key }) => `${key} has no transfer`));
  }
  return report.result(checked);
}

/** Transfers with the amounts moved into and out of reserved for them, and the status of their payouts. */
function selectTransfers(reader: Reader) {
  /** After so many reversals, what was posted has that number in its key. */
  const numbered = (times: string) =>
    sql`case when ${sql.raw(times)} > 0 then ':' || ${sql.raw(times)} else '' end`;
  const suffixOf = (kind: string) =>
    kind === 'hold'
      ? sql`''`
      : numbered(kind === 'back' ? '(transfers.reversals - 1)' : 'transfers.reversals');
  const moved = (kind: 'hold' | 'post' | 'void' | 'undo' | 'lost' | 'back', side: 'credit' | 'debit') =>
    reader
      .selectFrom('ledger_postings as posting')
      .innerJoin('ledger_entries as entry', 'entry.posting_id', 'posting.id')
      .innerJoin('ledger_accounts as account', 'account.id', 'entry.account_id')
      .where('posting.key', '=', sql<string>`${sql.lit(`${kind}:`)} || transfers.id || ${suffixOf(kind)}`)
      .where('account.kind', '=', kind === 'lost' ? 'available' : 'reserved')
      .where('account.merchant_id', '=', sql<string>`transfers.merchant_id`)
      // A refund's transfer takes over what the refund has reserved, so its hold has both sides on the same account.
      .where(`entry.${side}`, '<>', '0')
      .select(`entry.${side}`)
      .limit(1);
  return reader
    .selectFrom('transfers')
    .leftJoin('payouts', 'payouts.transfer_id', 'transfers.id')
    .select([
      'transfers.id',
      'transfers.status',
      'transfers.amount',
      'transfers.fee',
      'transfers.settled_at',
      'transfers.reversals',
      'payouts.status as payout',
      moved('hold', 'credit').as('held'),
      moved('post', 'debit').as('posted'),
      moved('void', 'debit').as('voided'),
      moved('undo', 'credit').as('undone'),
      moved('lost', 'credit').as('lost'),
      moved('back', 'credit').as('back'),
    ]);
}

export async function checkReserved(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Reserved is the sum of the open holds');
  const columns = ['mode', 'currency', 'network', 'merchant_id', 'amount', 'fee'] as const;
  const transfers = reader
    .selectFrom('transfers')
    .select(columns)
    .where('status', 'in', ['pending', 'processing']);
  // From its approval on, a refund's transfer holds what it takes.
  const refunds = reader
    .selectFrom('refunds')
    .select(columns)
    .where('status', 'in', ['awaiting_address', 'awaiting_approval']);
  const open = await reader
    .selectFrom(transfers.unionAll(refunds).as('open'))
    .groupBy(['mode', 'currency', 'network', 'merchant_id'])
    .select(['mode', 'currency', 'network', 'merchant_id as owner'])
    .select([sumUnits(reader, 'amount').as('amounts'), sumUnits(reader, 'fee').as('fees')])
    .execute();
  const held = open.map(({ amounts, fees, ...of }) => ({
    ...of,
    units: (BigInt(amounts) + BigInt(fees)).toString(),
  }));
  return report.result(await compareToAccounts(reader, report, 'reserved', held));
}

export async function checkBankPayouts(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Every payout to a bank is posted once, and returned once if it failed');
  const toBanks = reader.selectFrom('payouts').where('transfer_id', 'is', null);
  const checked = await comparePostings(
    reader,
    report,
    'payouts to banks',
    ['bank', 'bank-return'],
    toBanks.select(['id', 'status']),
    ({ id, status }) => [`bank:${id}`, ...(status === 'failed' ? [`bank-return:${id}`] : [])],
  );
  const paid = toBanks.where('status', '<>', 'failed');
  const sums = await sumsBy(reader, paid, ['mode', 'currency'], ['amount']);
  const clearing = sums.map(({ amount_sum: units, ...of }) => ({ ...of, owner: null, units }));
  await compareToAccounts(reader, report, 'bank_clearing', clearing);
  return report.result(checked);
}
