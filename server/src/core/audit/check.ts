/** Checks the ledger's invariants against the database, for the `ledger check` command and the tests. */
import { sql, type Expression, type SqlBool } from 'kysely';
import { queryPartsOf } from '../db/query-parts.js';
import { everyPageById } from '../db/pages.js';
import { findLeftTables } from '../db/removed-modules.js';
import { countRows } from '../db/rows.js';
import { sumUnits } from '../db/units.js';
import { tables } from '../db/schema.js';
import { valuesOf } from '../db/values.js';
import { debitAccounts } from '../ledger/ledger.js';
import type { Reader } from '../db/engine.js';
import {
  checkCustody,
  checkFeeIncome,
  checkMerchants,
  checkReserved,
  checkUnallocated,
} from './check-balances.js';
import { checkBankPayouts, checkTransfers } from './check-payouts.js';
import { comparePostings, Report, type Check, type LedgerCheck } from './check-report.js';

const accountRows = valuesOf(tables.ledger_accounts);

declare module '../db/query-parts.js' {
  interface QueryParts {
    /** Further invariants, with their sentences. */
    readonly checks?: readonly Invariant[];
    /** True if the successful payment in the query has no settlement, because nothing was left to settle. */
    readonly hasNothingToSettle?: () => Expression<SqlBool>;
  }
}

type Invariant = readonly [invariant: string, check: Check];

const invariants: readonly Invariant[] = [
  ['Debits equal credits in every posting', checkPostings],
  ['Debits equal credits in total, for each currency', checkAssets],
  ['Every balance is the sum of its entries', checkEntries],
  ['Available and reserved are not negative, and debts are not positive', checkSigns],
  ['Every confirmed receipt is posted once, and every lost one is reversed', checkReceipts],
  ['Unallocated is what was received but not yet credited', checkUnallocated],
  ['Every successful payment has one settlement', checkSettlements],
  ['Every transfer has one hold, one post or void once it has ended, and a matching payout', checkTransfers],
  ['Reserved is the sum of the open holds', checkReserved],
  ['Every payout to a bank is posted once, and returned once if it failed', checkBankPayouts],
  ['Custody is what was received less what was sent, by network and merchant', checkCustody],
  ['Fee income is the fees of all credited receipts and sent transfers', checkFeeIncome],
  ['Available, reserved and debts are what was credited less what was paid out', checkMerchants],
];

/**
 * Reads page by page and sums in the database, so the ledger can have any size. Pass a snapshot, or a database that
 * nobody writes to: postings made during the check would look like violations.
 */
export async function checkLedger(reader: Reader): Promise<LedgerCheck[]> {
  const checks: LedgerCheck[] = [];
  const ofModules = queryPartsOf(reader).flatMap(({ checks }) => checks ?? []);
  for (const [invariant, check] of [...invariants, ...ofModules]) {
    const report = new Report();
    const checked = await check(reader, report);
    checks.push({ invariant, checked, violations: report.violations });
  }
  if (checks.every(({ violations }) => violations.length === 0)) return checks;
  const left = await findLeftTables(reader);
  if (left.length === 0) return checks;
  const note = `Records of modules that this server does not have are not counted (${left.join(', ')}): add the modules and check again`;
  return checks.map((check) => (check.violations.length === 0 ? check : { ...check, notes: [note] }));
}

async function checkPostings(reader: Reader, report: Report): Promise<number> {
  const debits = sumUnits(reader, 'entry.debit');
  const credits = sumUnits(reader, 'entry.credit');
  const unbalanced = await reader
    .selectFrom('ledger_postings as posting')
    .leftJoin('ledger_entries as entry', 'entry.posting_id', 'posting.id')
    .groupBy('posting.id')
    .select(['posting.key', debits.as('debits'), credits.as('credits')])
    .having(sql<boolean>`${debits} <> ${credits} or count(entry.posting_id) = 0`)
    .limit(Report.limit)
    .execute();
  report.add(
    unbalanced.map(({ key, debits, credits }) =>
      debits === credits ? `${key} has no entries` : `${key} debits ${debits} and credits ${credits}`,
    ),
  );
  return countRows(reader.selectFrom('ledger_postings'));
}

/** Each posting stays within one currency of one mode, so the ledger of each currency balances on its own. */
async function checkAssets(reader: Reader, report: Report): Promise<number> {
  const entries = reader
    .selectFrom('ledger_entries as entry')
    .innerJoin('ledger_accounts as account', 'account.id', 'entry.account_id');
  const totals = await entries
    .groupBy(['account.mode', 'account.currency'])
    .select([
      'account.mode',
      'account.currency',
      sumUnits(reader, 'entry.debit').as('debits'),
      sumUnits(reader, 'entry.credit').as('credits'),
    ])
    .execute();
  for (const { mode, currency, debits, credits } of totals) {
    report.expect(debits === credits, `${currency} in ${mode} mode debits ${debits}, credits ${credits}`);
  }
  const strays = await entries
    .innerJoin('ledger_postings as posting', 'posting.id', 'entry.posting_id')
    .where(sql<boolean>`account.mode <> posting.mode or account.currency <> posting.currency`)
    .select(['posting.key', 'entry.account_id'])
    .limit(Report.limit)
    .execute();
  report.add(
    strays.map(({ key, account_id: account }) => `${key} posts to ${account}, of another mode or currency`),
  );
  return totals.length;
}

async function checkEntries(reader: Reader, report: Report): Promise<number> {
  let checked = 0;
  const accounts = reader.selectFrom('ledger_accounts').select(['id', 'kind', 'balance']);
  for await (const page of everyPageById(accounts, 'id')) {
    checked += page.length;
    // Not by a join, for which PostgreSQL would read the entries from the first account on for each page.
    const sums = await reader
      .selectFrom('ledger_entries')
      .where(
        'account_id',
        'in',
        page.map(({ id }) => id),
      )
      .groupBy('account_id')
      .select([
        'account_id',
        sumUnits(reader, 'debit').as('debits'),
        sumUnits(reader, 'credit').as('credits'),
      ])
      .execute();
    const nets = new Map(sums.map((row) => [row.account_id, BigInt(row.debits) - BigInt(row.credits)]));
    for (const { id, kind, balance } of page) {
      const net = nets.get(id) ?? 0n;
      const sum = debitAccounts.has(kind) ? net : -net;
      report.expect(
        accountRows.decode({ balance }).balance === sum,
        `${id} is ${balance}, but its entries add up to ${sum}`,
      );
    }
  }
  return checked;
}

async function checkSigns(reader: Reader, report: Report): Promise<number> {
  const accounts = reader
    .selectFrom('ledger_accounts')
    .where((e) => e.or([e('kind', 'in', ['available', 'reserved']), e('id', 'like', '%/debt')]));
  const wrong = await accounts
    .select(['id', 'balance'])
    .where(
      sql<boolean>`case when kind = 'unallocated' then balance not like '-%' and balance <> '0'
        else balance like '-%' end`,
    )
    .limit(Report.limit)
    .execute();
  report.add(wrong.map(({ id, balance }) => `${id} is ${balance}`));
  return countRows(accounts);
}

function checkReceipts(reader: Reader, report: Report): Promise<number> {
  return comparePostings(
    reader,
    report,
    'receipts',
    ['receipt', 'reversal'],
    reader.selectFrom('receipts').select(['id', 'status', 'reversals']),
    ({ id, status, reversals }) => [
      ...numbered(`receipt:${id}`, reversals + (status === 'confirmed' ? 1 : 0)),
      ...numbered(`reversal:${id}`, reversals),
    ],
  );
}

/** The keys of the first `times` postings of a receipt. */
function numbered(key: string, times: number): string[] {
  return Array.from({ length: times }, (_, index) => (index === 0 ? key : `${key}:${index}`));
}

async function checkSettlements(reader: Reader, report: Report): Promise<number> {
  const parts = queryPartsOf(reader);
  const successes = reader.selectFrom('payments').where('payments.settled_at', 'is not', null);
  const missing = await successes
    .leftJoin('ledger_postings as posting', (join) =>
      join.on('posting.key', '=', sql<string>`'settlement:' || payments.id`),
    )
    .select('payments.id')
    .where('posting.id', 'is', null)
    // All of its money was credited when its time ran out, before the shop took it as enough.
    .where('payments.accepted_at', 'is', null)
    .where((e) => e.not(e.or(parts.flatMap(({ hasNothingToSettle }) => hasNothingToSettle?.() ?? []))))
    .limit(Report.limit)
    .execute();
  report.add(missing.map(({ id }) => `settlement:${id} is missing`));
  const surplus = await reader
    .selectFrom('ledger_postings as posting')
    .leftJoin('payments', 'payments.id', 'posting.payment_id')
    .select('posting.key')
    .where('posting.key', 'like', 'settlement:%')
    .where(sql<boolean>`(payments.settled_at is null or posting.key <> 'settlement:' || payments.id)`)
    .limit(Report.limit)
    .execute();
  report.add(surplus.map(({ key }) => `${key} has no successful payment`));
  return countRows(successes);
}
