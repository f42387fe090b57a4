/** Asks `ledger check`, in tests that move money. */
import { expect } from 'vitest';
import { checkLedger } from '../../src/core/audit/check.js';
import type { Database } from '../../src/core/db/database.js';

/** All that the ledger's checks find, in words. */
export async function violationsOf(database: Database): Promise<string[]> {
  const checks = await database.snapshot((reader) => checkLedger(reader));
  return checks.flatMap(({ violations }) => violations);
}

/** @param when shown with a failure */
export async function expectBooksInOrder(database: Database, when?: string): Promise<void> {
  expect(await violationsOf(database), when).toEqual([]);
}
