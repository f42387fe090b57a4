/** What a check of the ledger says, and what the checks share: pages, counts and comparisons with accounts. */
import { sql, type SelectQueryBuilder } from 'kysely';
import type { LedgerAccountKind } from '../db/schema.js';
import type { Mode } from '../shared/scope.js';
import type { Reader } from '../db/engine.js';

export interface LedgerCheck {
  /** What must hold. */
  readonly invariant: string;
  /** Of how many records it was asked. */
  readonly checked: number;
  /** Where it does not hold; empty when it holds. The first ones, where there are very many. */
  readonly violations: readonly string[];
}

/** Collects where an invariant does not hold. */
export class Report {
  /** How many violations are named. */
  static readonly shown = 100;
  readonly #invariant: string;
  readonly #violations: string[] = [];

  constructor(invariant: string) {
    this.#invariant = invariant;
  }

  add(violations: readonly string[]): void {
    this.#violations.push(...violations.slice(0, Report.shown - this.#violations.length));
  }

  checked(records: number): LedgerCheck {
    return { invariant: this.#invariant, checked: records, violations: this.#violations };
  }
}

const pageSize = 500;

/**
 * Reads a query in pages, so that it may have any number of rows.
 * @param query rows with an id above the given one, in the order of their ids
 * @returns how many rows there were
 */
export async function visitPages<DB, TB extends keyof DB, Row extends { readonly id: string }>(
  query: (after: string) => SelectQueryBuilder<DB, TB, Row>,
  visit: (page: readonly Row[]) => void | Promise<void>,
): Promise<number> {
  let after = '';
  let visited = 0;
  for (;;) {
    const page: readonly Row[] = await query(after).limit(pageSize).execute();
    await visit(page);
    visited += page.length;
    const last = page.at(-1);
    if (!last || page.length < pageSize) return visited;
    after = last.id;
  }
}

export async function count<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
): Promise<number> {
  const counted = await query
    .clearSelect()
    .select(sql`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  return Number((counted as { total: number | string }).total);
}

/** Which of these keys were posted. */
export async function keysAmong(reader: Reader, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let start = 0; start < keys.length; start += pageSize) {
    const rows = await reader
      .selectFrom('ledger_postings')
      .select('key')
      .where('key', 'in', keys.slice(start, start + pageSize))
      .execute();
    for (const { key } of rows) found.add(key);
  }
  return found;
}

export interface ExpectedBalance {
  readonly mode: Mode;
  readonly currency: string;
  /** The merchant that the account belongs to; null for the accounts of the service itself. */
  readonly owner: string | null;
  readonly units: string;
}

/**
 * Compares the accounts of a kind, debts apart, with what they should hold; accounts that are not named should be empty.
 * @returns how many accounts were compared
 */
export async function compareToAccounts(
  reader: Reader,
  report: Report,
  kind: LedgerAccountKind,
  expected: readonly ExpectedBalance[],
): Promise<number> {
  const open = new Map(
    expected.map(({ mode, currency, owner, units }) => [
      [mode, currency, kind, owner].filter((part) => part !== null).join('/'),
      units,
    ]),
  );
  const accounts = await visitPages(
    (after) =>
      reader
        .selectFrom('ledger_accounts')
        .select(['id', 'balance'])
        .where('kind', '=', kind)
        .where('id', 'not like', '%/debt')
        .where('id', '>', after)
        .orderBy('id'),
    (page) => {
      for (const { id, balance } of page) {
        const units = open.get(id) ?? '0';
        if (balance !== units) report.add([`${id} is ${balance} instead of ${units}`]);
        open.delete(id);
      }
    },
  );
  report.add([...open].filter(([, units]) => units !== '0').map(([id]) => `${id} is missing`));
  return accounts;
}
