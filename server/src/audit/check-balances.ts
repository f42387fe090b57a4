/** Compares the balances of accounts with what the records of the other tables add up to. */
import { sql, type RawBuilder } from 'kysely';
import type { Reader } from '../db/engine.js';
import { countRows } from '../db/rows.js';
import type { Schema } from '../db/schema.js';
import type { LedgerAccountKind } from '../db/tables/ledger.js';
import { sumUnits } from '../db/units.js';
import { Report, type Check } from './check-report.js';

/** Accounts with what rows add to them, in signed units. */
type Flow = RawBuilder<unknown>;

/** @param account SQL of the account that each row of the table belongs to */
const flow =
  (sign: '' | '-') =>
  <Table extends keyof Schema>(
    account: string,
    table: Table,
    column: keyof Schema[Table] & string,
    where: string,
  ): Flow => sql`select ${sql.raw(account)} as account, ${sql.lit(sign)} || ${sql.ref(column)} as units
    from ${sql.table(table)} where ${sql.raw(where)}`;
const added = flow('');
const taken = flow('-');

/** SQL of a name, such as `test/USDT/tron`. */
const named = (...parts: readonly string[]) => parts.join(` || '/' || `);
const accountOf = (kind: LedgerAccountKind, ...columns: readonly string[]) =>
  named('mode', 'currency', `'${kind}'`, ...columns);

const sent = `status = 'success'`;
/** An excess that goes back has no service fee. */
const hasFeeBack = `fee_returns % 2 = 1`;
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
/** From its approval on, a refund's transfer holds what it takes. */
const isWaiting = `status in ('awaiting_address', 'awaiting_approval')`;
export const checkReserved = checkBalances('reserved', [
  added(reserved, 'transfers', 'amount', isHeld),
  added(reserved, 'transfers', 'fee', isHeld),
  added(reserved, 'refunds', 'amount', isWaiting),
  added(reserved, 'refunds', 'fee', isWaiting),
]);

export const checkFeeIncome = checkBalances('fee_income', [
  added(accountOf('fee_income'), 'receipts', 'credited_fee', 'is_credited = 1'),
  added(accountOf('fee_income'), 'transfers', 'fee', sent),
  taken(accountOf('fee_income'), 'refunds', 'service_fee', hasFeeBack),
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
    for (const { id, balance, units } of await findDifferences(reader, sql`${accounts}`, flows)) {
      report.add([balance === null ? `${id} is missing` : `${id} is ${balance} instead of ${units}`]);
    }
    return countRows(accounts);
  };
}

const merchant = named('mode', 'currency', 'merchant_id');

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
    added(merchant, 'refunds', 'service_fee', hasFeeBack),
    taken(merchant, 'transfers', 'amount', sent),
    taken(merchant, 'transfers', 'fee', sent),
    taken(merchant, 'payouts', 'amount', toOpenBank),
    taken(merchant, 'payouts', 'fee', toOpenBank),
  ]);
  report.add(differences.map(({ id, balance, units }) => `${id} has ${balance ?? 0} instead of ${units}`));
  return countRows(own);
};

/**
 * The places where a balance is not the sum of its inflows; null where there is none. @param balances have `id` and
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
