/** The result of a ledger check, and what the checks share: how they list violations, read rows and compare postings. */
import type { SelectQueryBuilder } from 'kysely';
import { inChunks } from '../db/chunks.js';
import { everyPageById } from '../db/pages.js';
import { countRows } from '../db/rows.js';
import type { Reader } from '../db/engine.js';

export interface LedgerCheck {
  /** The rule that must hold. */
  readonly invariant: string;
  /** The number of records that were checked. */
  readonly checked: number;
  /** The first `Report.limit` places where it does not hold; empty if it holds. */
  readonly violations: readonly string[];
  /** Facts that are worth knowing, and no fault. */
  readonly notes?: readonly string[];
  /** If it compares the books with a chain: which way they differ where it does not hold. */
  readonly kind?: 'surplus' | 'shortage';
}

/** Checks one invariant. @returns the number of records that it has checked */
export type Check = (reader: Reader, report: Report) => Promise<number>;

/** Collects the violations of an invariant. */
export class Report {
  /** The most violations that are listed. */
  static readonly limit = 100;
  readonly violations: string[] = [];

  add(violations: readonly string[]): void {
    this.violations.push(...violations.slice(0, Report.limit - this.violations.length));
  }

  /** Adds a violation unless something holds. */
  expect(holds: boolean, violation: string): void {
    if (!holds) this.add([violation]);
  }
}

/**
 * Checks that exactly the expected postings exist.
 * @param name of the posted things, in the plural
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
  let checked = 0;
  let expected = 0;
  for await (const page of everyPageById(query)) {
    checked += page.length;
    const wanted = page.flatMap(keysOf);
    expected += wanted.length;
    const rows = await inChunks(wanted, (chunk) =>
      reader.selectFrom('ledger_postings').select('key').where('key', 'in', chunk).execute(),
    );
    const found = new Set(rows.map(({ key }) => key));
    report.add(wanted.filter((key) => !found.has(key)).map((key) => `${key} is missing`));
  }
  const posted = await countRows(
    reader
      .selectFrom('ledger_postings')
      .where((e) => e.or(prefixes.map((prefix) => e('key', 'like', `${prefix}:%`)))),
  );
  if (posted > expected) report.add([`${posted - expected} unexpected postings of ${name}`]);
  return checked;
}
