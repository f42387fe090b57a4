/** Compares the balances of accounts with the sums of the records in other tables. */
import { sql } from 'kysely';
import { countRows } from '../db/rows.js';
import { sumUnits } from '../db/units.js';
import type { Check } from './check-report.js';
import { accountOf, added, checkBalances, findDifferences, flowsInto, merchant, taken } from './flows.js';

const sent = `status = 'success'`;
const toOpenBank = `transfer_id is null and status <> 'failed'`;

const custody = accountOf('custody', 'network', 'merchant_id');
const payer = `${custody} || coalesce('/' || paid_from, '')`;
export const checkCustody = checkBalances('custody', [
  added(custody, 'receipts', 'amount', `status = 'confirmed'`),
  taken(payer, 'transfers', 'amount', sent),
  taken(payer, 'transfers', 'network_fee', sent),
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
