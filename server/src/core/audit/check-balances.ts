/** Compares the balances of accounts with the sums of the records in other tables. */
import { sql, type RawBuilder } from 'kysely';
import type { Reader } from '../db/engine.js';
import { countRows } from '../db/rows.js';
import type { LedgerAccountKind } from '../db/tables/ledger.js';
import { sumUnits } from '../db/units.js';
import { Report, type Check } from './check-report.js';
import { accountOf, added, flowsInto, merchant, named, taken, type Flow } from './flows.js';

const sent = `status = 'success'`;
const toOpenBank = `transfer_id is null and status <> 'failed'`;

const custody = accountOf('custody', 'network', 'merchant_id');
const treasury = named(custody, `'treasury'`);
const payer = `${custody} || coalesce('/' || paid_from, '')`;
export const checkCustody = checkBalances('custody', [
  added(custody, 'receipts', 'amount', `status = 'confirmed'`),
  taken(payer, 'transfers', 'amount', sent),
  taken(payer, 'transfers', 'network_fee', sent),
  taken(custody, 'sweeps', 'amount', 'is_reversed = 0'),
  added(treasury, 'sweeps', 'amount', 'is_reversed = 0'),
  taken(treasury, 'treasury_fees', 'amount', 'is_reversed = 0'),
]);

export const checkUnallocated = checkBalances('unallocated', [
  added(
    accountOf('unallocated', 'merchant_id'),
    'receipts',
    'amount',
    `status = 'confirmed' and is_credited = 0`,
  ),
]);

const reserved = accountOf('reserved', 'network', 'merchant_id');
const isHeld = `status in ('pending', 'processing')`;
export const checkReserved = checkBalances('reserved', [
  added(reserved, 'transfers', 'amount', isHeld),
  added(reserved, 'transfers', 'fee', isHeld),
]);

export const checkFeeIncome = checkBalances('fee_income', [
  added(accountOf('fee_income'), 'receipts', 'credited_fee', 'is_credited = 1'),
  added(accountOf('fee_income'), 'transfers', 'fee', sent),
]);

export const checkBankClearing = checkBalances('bank_clearing', [
  added(accountOf('bank_clearing'), 'payouts', 'amount', toOpenBank),
]);

export const checkGas = checkBalances('gas_paid', [
  added(accountOf('gas_paid'), 'gas_transactions', 'cost', 'cost is not null'),
]);

/** The accounts of a kind, except debts, have exactly what flows into them. */
function checkBalances(kind: LedgerAccountKind, flows: readonly Flow[]): Check {
  return async (reader, report) => {
    const accounts = reader
      .selectFrom('ledger_accounts')
      .select(['id', 'balance'])
      .where('kind', '=', kind)
      .where('id', 'not like', '%/debt');
    const all = [...flows, ...flowsInto(reader, kind)];
    for (const { id, balance, units } of await findDifferences(reader, sql`${accounts}`, all)) {
      report.add([balance === null ? `${id} is missing` : `${id} is ${balance} instead of ${units}`]);
    }
    return countRows(accounts);
  };
}

/** A merchant's balance, held withdrawals and debts included, follows from its receipts, transfers and payouts. */
export const checkMerchants: Check = async (reader, report) => {
  const own = reader
    .selectFrom('ledger_accounts')
    .where((e) => e.or([e('kind', 'in', ['available', 'reserved']), e('id', 'like', '%/debt')]));
  const name = sql<string>`${sql.raw(merchant)}`;
  const balances = own.groupBy(name).select([name.as('id'), sumUnits(reader, 'balance').as('balance')]);
  const differences = await findDifferences(reader, sql`${balances}`, [
    added(merchant, 'receipts', 'amount', 'is_credited = 1'),
    taken(merchant, 'receipts', 'credited_fee', 'is_credited = 1'),
    taken(merchant, 'transfers', 'amount', sent),
    taken(merchant, 'transfers', 'fee', sent),
    taken(merchant, 'payouts', 'amount', toOpenBank),
    taken(merchant, 'payouts', 'fee', toOpenBank),
    ...flowsInto(reader, 'merchant'),
  ]);
  report.add(differences.map(({ id, balance, units }) => `${id} has ${balance ?? 0} instead of ${units}`));
  return countRows(own);
};

/**
 * The places where a balance is not the sum of its inflows; null if there is none. @param balances have `id` and
 * `balance`
 */
async function findDifferences(reader: Reader, balances: RawBuilder<unknown>, flows: readonly Flow[]) {
  const units = sumUnits(reader, 'units');
  // Not by a join, for which SQLite would compare each balance with each sum.
  const { rows } = await sql<{ id: string; balance: string | null; units: string }>`
    select id, max(balance) as balance, ${units} as units
    from (
      select id, balance, null as units from (${balances}) as balances
      union all
      select account, null, units from (${sql.join(flows, sql` union all `)}) as flows
    ) as both_sides
    group by id having coalesce(max(balance), '0') <> ${units} limit ${sql.lit(Report.limit)}`.execute(
    reader,
  );
  return rows;
}
