/** The result of a ledger check, and what the checks share: pages, counts and comparisons with accounts. */
import { sql, type SelectQueryBuilder } from 'kysely';
import { inChunks } from '../db/chunks.js';
import { countRows } from '../db/rows.js';
import type { Schema } from '../db/schema.js';
import type { LedgerAccountKind } from '../db/tables/ledger.js';
import { sumUnits } from '../db/units.js';
import type { Mode } from '../shared/scope.js';
import type { Reader } from '../db/engine.js';

export interface LedgerCheck {
  /** What must hold. */
  readonly invariant: string;
  /** How many records were checked. */
  readonly checked: number;
  /** Where it does not hold, the first `Report.limit` places; empty if it holds. */
  readonly violations: readonly string[];
  /** What is worth knowing, and no fault. */
  readonly notes?: readonly string[];
  /** If it compares the books with a chain: which way they differ where it does not hold. */
  readonly kind?: 'surplus' | 'shortage';
}

/** Collects the violations of an invariant. */
export class Report {
  /** The most violations that are listed. */
  static readonly limit = 100;
  readonly #invariant: string;
  readonly #violations: string[] = [];

  constructor(invariant: string) {
    this.#invariant = invariant;
  }

  add(violations: readonly string[]): void {
    this.#violations.push(...violations.slice(0, Report.limit - this.#violations.length));
  }

  /** Adds a violation unless something holds. */
  expect(holds: boolean, violation: string): void {
    if (!holds) this.add([violation]);
  }

  result(checked: number): LedgerCheck {
    return { invariant: this.#invariant, checked, violations: this.#violations };
  }
}

const pageSize = 500;

/**
 * Reads a query page by page, in the order of the ids, so that it can have any number of rows.
 * @param column the ids, where a join has several
 * @returns the number of rows
 */
export async function visitPages<DB, TB extends keyof DB, Row extends { readonly id: string }>(
  query: SelectQueryBuilder<DB, TB, Row>,
  visit: (page: readonly Row[]) => void | Promise<void>,
  column = 'id',
): Promise<number> {
  const id = sql.ref(column);
  let after = '';
  let visited = 0;
  for (;;) {
    const rest = query.where(sql<boolean>`${id} > ${after}`).orderBy(id);
    const page: readonly Row[] = await rest.limit(pageSize).execute();
    await visit(page);
    visited += page.length;
    const last = page.at(-1);
    if (!last || page.length < pageSize) return visited;
    after = last.id;
  }
}

/**
 * Checks that exactly the expected postings exist.
 * @param name of what is posted, in the plural
 * @param prefixes of the postings' keys
 * @param keysOf the keys under which a record must have been posted
 * @returns the number of records
 */
export async function comparePostings<DB, TB extends keyof DB, Row extends { readonly id: string }>(
  reader: Reader,
  report: Report,
  name: string,
  prefixes: readonly string[],
  query: SelectQueryBuilder<DB, TB, Row>,
  keysOf: (row: Row) => readonly string[],
): Promise<number> {
  let expected = 0;
  const checked = await visitPages(query, async (page) => {
    const wanted = page.flatMap(keysOf);
    expected += wanted.length;
    const rows = await inChunks(wanted, (chunk) =>
      reader.selectFrom('ledger_postings').select('key').where('key', 'in', chunk).execute(),
    );
    const found = new Set(rows.map(({ key }) => key));
    report.add(wanted.filter((key) => !found.has(key)).map((key) => `${key} is missing`));
  });
  const posted = await countRows(
    reader
      .selectFrom('ledger_postings')
      .where((e) => e.or(prefixes.map((prefix) => e('key', 'like', `${prefix}:%`)))),
  );
  if (posted > expected) report.add([`${posted - expected} unexpected postings of ${name}`]);
  return checked;
}

/** The rows that have the same `by` as one, with the sums of some columns of units, as text. */
export async function sumsBy<
  Table extends keyof Schema,
  By extends keyof Schema[Table] & string,
  Column extends keyof Schema[Table] & string,
>(
  reader: Reader,
  query: SelectQueryBuilder<Schema, Table, object>,
  by: readonly By[],
  columns: readonly Column[],
): Promise<(Pick<Schema[Table], By> & Readonly<Record<`${Column}_sum`, string>>)[]> {
  const sums = columns.map((column) => sumUnits(reader, column).as(`${column}_sum`));
  // Kysely does not know the columns of a table that is a type parameter.
  const rows = await query
    .groupBy(by as never)
    .select([...by, ...sums] as never)
    .execute();
  return rows as never;
}

export interface ExpectedBalance {
  readonly mode: Mode;
  readonly currency: string;
  /** For custody and reserved accounts. */
  readonly network?: string;
  /** The merchant that owns the account; null for the service's own accounts. */
  readonly owner: string | null;
  /** For custody that does not lie at the addresses that payers paid to. */
  readonly place?: string;
  readonly units: string;
}

/**
 * Compares the accounts of a kind, except debts, with the expected balances. All other accounts should be empty.
 * @returns how many accounts were compared
 */
export async function compareToAccounts(
  reader: Reader,
  report: Report,
  kind: LedgerAccountKind,
  expected: readonly ExpectedBalance[],
): Promise<number> {
  const open = new Map(
    expected.map(({ mode, currency, network = null, owner, place = null, units }) => [
      [mode, currency, kind, network, owner, place].filter((part) => part !== null).join('/'),
      units,
    ]),
  );
  const accounts = await visitPages(
    reader
      .selectFrom('ledger_accounts')
      .select(['id', 'balance'])
      .where('kind', '=', kind)
      .where('id', 'not like', '%/debt'),
    (page) => {
      for (const { id, balance } of page) {
        const units = open.get(id) ?? '0';
        report.expect(balance === units, `${id} is ${balance} instead of ${units}`);
        open.delete(id);
      }
    },
  );
  report.add([...open].filter(([, units]) => units !== '0').map(([id]) => `${id} is missing`));
  return accounts;
}
