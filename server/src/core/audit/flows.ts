/** The units that rows add to the balances of accounts, for the checks that compare both. */
import { sql, type RawBuilder } from 'kysely';
import type { Reader } from '../db/engine.js';
import { queryPartsOf } from '../db/query-parts.js';
import type { Schema } from '../db/schema.js';
import type { LedgerAccountKind } from '../db/tables/ledger.js';

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

/** Those of the modules. */
export const flowsInto = (reader: Reader, account: keyof Flows): readonly Flow[] =>
  queryPartsOf(reader).flatMap(({ flows }) => flows?.[account] ?? []);
