/** The units that rows add to the balances of accounts, and the checks that compare both. */
import { sql, type RawBuilder } from 'kysely';
import type { Reader } from '../db/engine.js';
import { queryPartsOf } from '../db/query-parts.js';
import { countRows } from '../db/rows.js';
import type { Schema } from '../db/schema.js';
import type { LedgerAccountKind } from '../db/tables/ledger.js';
import { sumUnits } from '../db/units.js';
import { Report, type Check } from './check-report.js';

/** Accounts with the sums that rows add to them, in signed units. */
export type Flow = RawBuilder<unknown>;

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
export const added = flow('');
export const taken = flow('-');

/** SQL of a name, such as `test/USDT/tron`. */
export const named = (...parts: readonly string[]) => parts.join(` || '/' || `);
export const accountOf = (kind: LedgerAccountKind, ...columns: readonly string[]) =>
  named('mode', 'currency', `'${kind}'`, ...columns);

/** The units of all balances of a merchant in a currency. */
export const merchant = named('mode', 'currency', 'merchant_id');

/** Flows from the rows of modules, by the kind of account; `merchant` for all of a merchant's balances. */
export type Flows = Readonly<Partial<Record<LedgerAccountKind | 'merchant', readonly Flow[]>>>;

declare module '../db/query-parts.js' {
  interface QueryParts {
    readonly flows?: Flows;
  }
}

/** The flows that modules add. */
export const flowsInto = (reader: Reader, account: keyof Flows): readonly Flow[] =>
  queryPartsOf(reader).flatMap(({ flows }) => flows?.[account] ?? []);

/** The accounts of a kind, except debts, have exactly what flows into them. */
export function checkBalances(kind: LedgerAccountKind, flows: readonly Flow[]): Check {
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

/**
 * The places where a balance is not the sum of its inflows; null if there is none. @param balances have `id` and
 * `balance`
 */
export async function findDifferences(reader: Reader, balances: RawBuilder<unknown>, flows: readonly Flow[]) {
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
