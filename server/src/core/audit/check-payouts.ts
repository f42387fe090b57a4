/** The ledger's invariants for withdrawals: transfers and their payouts, and payouts to banks. */
import { sql } from 'kysely';
import type { Reader } from '../db/engine.js';
import { everyPageById } from '../db/pages.js';
import { tables } from '../db/schema.js';
import { valuesOf } from '../db/values.js';
import { checkBankClearing } from './check-balances.js';
import { comparePostings, Report, type Check } from './check-report.js';

const transferRows = valuesOf(tables.transfers);

/**
 * The postings for transfers, by the first part of their keys, and the side of the merchant's account that shows the
 * amount.
 */
const sides = {
  hold: 'credit',
  post: 'debit',
  void: 'debit',
  undo: 'credit',
  lost: 'credit',
  back: 'credit',
} as const;
type Kind = keyof typeof sides;
const kinds = Object.keys(sides) as Kind[];

/**
 * Each transfer has one hold, a post or a void once it has ended, a payout that matches it, an undone post if it was lost or
 * waits again, and an undone void if it was paid after it had failed.
 */
export const checkTransfers: Check = async (reader, report) => {
  let checked = 0;
  for await (const page of everyPageById(selectTransfers(reader), 'transfers.id')) {
    checked += page.length;
    for (const row of page) {
      const { id, status, undo, lost, payout } = row;
      const { amount, fee } = transferRows.decode(row);
      const units = (amount + fee).toString();
      const wasSent = row.settled_at !== null;
      const but = `but the transfer is ${status}`;
      const expect = (kind: Kind, isPosted: boolean, why: string, holds = true) =>
        report.expect(
          row[kind] === (isPosted ? units : null) && holds,
          `${kind}:${id} is ${row[kind] ?? 'missing'}${why}`,
        );
      expect('hold', true, ` instead of ${units}`);
      expect('post', wasSent, `, ${but}`, wasSent === (status === 'success' || lost !== null));
      expect('void', (status === 'failed' && !wasSent) || undo !== null, `, ${but}`);
      expect('undo', undo !== null, `, ${but}`, undo === null || wasSent);
      expect('lost', status === 'failed' && wasSent, `, ${but}`);
      expect('back', row.reversals > 0, `, but the transfer has waited again ${row.reversals} times`);
      const isPayoutRight = payout === status || (payout === null && ['pending', 'failed'].includes(status));
      report.expect(isPayoutRight, `The payout of ${id} is ${payout ?? 'missing'}, ${but}`);
    }
  }
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
  const orphans = await reader
    .selectFrom('ledger_postings as posting')
    .leftJoin('transfers', (join) => join.on('transfers.id', '=', sql<string>`substr(posting.key, 6, 26)`))
    .where((e) => e.or(kinds.map((kind) => e('posting.key', 'like', `${kind}:%`))))
    .where('transfers.id', 'is', null)
    .select('posting.key')
    .limit(Report.limit)
    .execute();
  report.add(orphans.map(({ key }) => `${key} has no transfer`));
  return checked;
};

/** Transfers with the amounts moved into and out of reserved for them, and the status of their payouts. */
function selectTransfers(reader: Reader) {
  /** After so many reversals, the posting has that number in its key. */
  const numbered = (times: string) =>
    sql`case when ${sql.raw(times)} > 0 then ':' || ${sql.raw(times)} else '' end`;
  const suffixOf = (kind: Kind) =>
    kind === 'hold'
      ? sql`''`
      : numbered(kind === 'back' ? '(transfers.reversals - 1)' : 'transfers.reversals');
  const moved = (kind: Kind) =>
    reader
      .selectFrom('ledger_postings as posting')
      .innerJoin('ledger_entries as entry', 'entry.posting_id', 'posting.id')
      .innerJoin('ledger_accounts as account', 'account.id', 'entry.account_id')
      .where('posting.key', '=', sql<string>`${sql.lit(`${kind}:`)} || transfers.id || ${suffixOf(kind)}`)
      .where('account.kind', '=', kind === 'lost' ? 'available' : 'reserved')
      .where('account.merchant_id', '=', sql<string>`transfers.merchant_id`)
      // A refund's transfer takes over what the refund has reserved, so its hold has both sides on the same account.
      .where(`entry.${sides[kind]}`, '<>', '0')
      .select(`entry.${sides[kind]} as units`)
      .limit(1)
      .as(kind);
  return reader
    .selectFrom('transfers')
    .leftJoin('payouts', 'payouts.transfer_id', 'transfers.id')
    .select(['transfers.id', 'transfers.status', 'transfers.amount', 'transfers.fee'])
    .select(['transfers.settled_at', 'transfers.reversals', 'payouts.status as payout'])
    .select(kinds.map(moved));
}

export const checkBankPayouts: Check = async (reader, report) => {
  const checked = await comparePostings(
    reader,
    report,
    'payouts to banks',
    ['bank', 'bank-return'],
    reader.selectFrom('payouts').where('transfer_id', 'is', null).select(['id', 'status']),
    ({ id, status }) => [`bank:${id}`, ...(status === 'failed' ? [`bank-return:${id}`] : [])],
  );
  await checkBankClearing(reader, report);
  return checked;
};
