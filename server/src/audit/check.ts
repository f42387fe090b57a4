/** Checks the ledger's invariants against the database, for the `ledger check` command and the tests. */
import { sql } from 'kysely';
import { countRows } from '../db/rows.js';
import { sumUnits } from '../db/units.js';
import { comparePostings, compareToAccounts, Report, visitPages, type LedgerCheck } from './check-report.js';
import { checkCustody, checkFeeIncome, checkGas, checkMerchants } from './check-totals.js';
import { checkBankPayouts, checkReserved, checkTransfers } from './check-payouts.js';
import { checkRefunds } from './check-refunds.js';
import { debitAccounts } from '../ledger/ledger.js';
import type { Reader } from '../db/engine.js';

/**
 * Reads page by page and sums in the database, so the ledger can have any size. Pass a snapshot, or a database that
 * nobody writes to: postings made during the check would look like violations.
 */
export async function checkLedger(reader: Reader): Promise<LedgerCheck[]> {
  return [
    await checkPostings(reader),
    await checkAssets(reader),
    await checkBalances(reader),
    await checkSigns(reader),
    await checkReceipts(reader),
    await checkUnallocated(reader),
    await checkSettlements(reader),
    await checkTransfers(reader),
    await checkReserved(reader),
    await checkRefunds(reader),
    await checkBankPayouts(reader),
    await checkCustody(reader),
    await checkFeeIncome(reader),
    await checkMerchants(reader),
    await checkGas(reader),
  ];
}

async function checkPostings(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Debits equal credits in every posting');
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
  return report.result(await countRows(reader.selectFrom('ledger_postings')));
}

/** Each posting stays within one currency of one mode, so the ledger of each currency balances on its own. */
async function checkAssets(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Debits equal credits in total, for each currency');
  const totals = await reader
    .selectFrom('ledger_entries as entry')
    .innerJoin('ledger_accounts as account', 'account.id', 'entry.account_id')
    .groupBy(['account.mode', 'account.currency'])
    .select([
      'account.mode',
      'account.currency',
      sumUnits(reader, 'entry.debit').as('debits'),
      sumUnits(reader, 'entry.credit').as('credits'),
    ])
    .execute();
  for (const { mode, currency, debits, credits } of totals) {
    if (debits !== credits) report.add([`${currency} in ${mode} mode debits ${debits}, credits ${credits}`]);
  }
  const strays = await reader
    .selectFrom('ledger_entries as entry')
    .innerJoin('ledger_accounts as account', 'account.id', 'entry.account_id')
    .innerJoin('ledger_postings as posting', 'posting.id', 'entry.posting_id')
    .where((e) =>
      e.or([
        e('account.mode', '<>', e.ref('posting.mode')),
        e('account.currency', '<>', e.ref('posting.currency')),
      ]),
    )
    .select(['posting.key', 'entry.account_id'])
    .limit(Report.limit)
    .execute();
  report.add(
    strays.map(({ key, account_id: account }) => `${key} posts to ${account}, of another mode or currency`),
  );
  return report.result(totals.length);
}

async function checkBalances(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Every balance is the sum of its entries');
  const checked = await visitPages(
    reader.selectFrom('ledger_accounts').select(['id', 'kind', 'balance']),
    async (page) => {
      const sums = await sumEntries(
        reader,
        page.map(({ id }) => id),
      );
      for (const { id, kind, balance } of page) {
        const net = sums.get(id) ?? 0n;
        const sum = debitAccounts.has(kind) ? net : -net;
        if (BigInt(balance) !== sum) report.add([`${id} is ${balance}, but its entries add up to ${sum}`]);
      }
    },
  );
  return report.result(checked);
}

/** Debits minus credits, by account. Accounts without entries are absent. */
async function sumEntries(reader: Reader, accounts: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
  if (accounts.length === 0) return new Map();
  const rows = await reader
    .selectFrom('ledger_entries')
    .where('account_id', 'in', accounts)
    .groupBy('account_id')
    .select(['account_id', sumUnits(reader, 'debit').as('debits'), sumUnits(reader, 'credit').as('credits')])
    .execute();
  return new Map(rows.map((row) => [row.account_id, BigInt(row.debits) - BigInt(row.credits)]));
}

async function checkSigns(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Available and reserved are not negative, and debts are not positive');
  const accounts = reader
    .selectFrom('ledger_accounts')
    .where((e) => e.or([e('kind', 'in', ['available', 'reserved']), e('id', 'like', '%/debt')]));
  const wrong = await accounts
    .select(['id', 'balance'])
    .where((e) =>
      e.or([
        e.and([e('kind', '<>', 'unallocated'), e('balance', 'like', '-%')]),
        e.and([e('kind', '=', 'unallocated'), e('balance', 'not like', '-%'), e('balance', '<>', '0')]),
      ]),
    )
    .limit(Report.limit)
    .execute();
  report.add(wrong.map(({ id, balance }) => `${id} is ${balance}`));
  return report.result(await countRows(accounts));
}

async function checkReceipts(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Every confirmed receipt is posted once, and every lost one is reversed');
  const checked = await comparePostings(
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
  return report.result(checked);
}

/** The keys of the first `times` postings of a receipt. */
function numbered(key: string, times: number): string[] {
  return Array.from({ length: times }, (_, index) => (index === 0 ? key : `${key}:${index}`));
}

async function checkUnallocated(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Unallocated is what was received but not yet credited');
  const waiting = await reader
    .selectFrom('receipts')
    .innerJoin('payments', 'payments.id', 'receipts.payment_id')
    .where((e) => e.and({ 'receipts.status': 'confirmed', 'receipts.is_credited': 0 }))
    .groupBy(['payments.mode', 'receipts.currency', 'receipts.merchant_id'])
    .select([
      'payments.mode',
      'receipts.currency',
      'receipts.merchant_id as owner',
      sumUnits(reader, 'receipts.amount').as('units'),
    ])
    .execute();
  return report.result(await compareToAccounts(reader, report, 'unallocated', waiting));
}

async function checkSettlements(reader: Reader): Promise<LedgerCheck> {
  const report = new Report('Every successful payment has one settlement');
  const successes = reader.selectFrom('payments').where('payments.settled_at', 'is not', null);
  const missing = await successes
    .leftJoin('ledger_postings as posting', (join) =>
      join.on('posting.key', '=', sql<string>`'settlement:' || payments.id`),
    )
    .select('payments.id')
    .where('posting.id', 'is', null)
    .limit(Report.limit)
    .execute();
  report.add(missing.map(({ id }) => `settlement:${id} is missing`));
  const surplus = await reader
    .selectFrom('ledger_postings as posting')
    .leftJoin('payments', 'payments.id', 'posting.payment_id')
    .select('posting.key')
    .where('posting.key', 'like', 'settlement:%')
    .where((e) =>
      e.or([
        e('payments.settled_at', 'is', null),
        e('posting.key', '<>', sql<string>`'settlement:' || payments.id`),
      ]),
    )
    .limit(Report.limit)
    .execute();
  report.add(surplus.map(({ key }) => `${key} has no successful payment`));
  return report.result(await countRows(successes));
}
