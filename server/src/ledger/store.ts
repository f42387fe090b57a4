/** What the ledger keeps. */
import type { Transaction } from '../db/database.js';
import type { LedgerAccountTable, LedgerPostingTable } from '../db/schema.js';
import { forUpdate } from '../db/locks.js';

/** @returns false when a posting of this key exists */
export async function insertPosting(transaction: Transaction, posting: LedgerPostingTable): Promise<boolean> {
  const result = await transaction
    .insertInto('ledger_postings')
    .values(posting)
    .onConflict((conflict) => conflict.column('key').doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Makes the accounts that are missing and locks all of them, in the order of their ids. */
export async function lockAccounts(
  transaction: Transaction,
  accounts: readonly LedgerAccountTable[],
): Promise<Map<string, LedgerAccountTable>> {
  const byId = new Map(accounts.map((account) => [account.id, account]));
  const ids = [...byId.keys()].sort();
  const locked = new Map<string, LedgerAccountTable>();
  for (const id of ids) {
    let row = await lockAccount(transaction, id);
    if (!row) {
      await transaction
        .insertInto('ledger_accounts')
        .values(accounts.filter((account) => account.id === id).slice(0, 1))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      row = await lockAccount(transaction, id);
    }
    if (row) locked.set(id, row);
  }
  return locked;
}

function lockAccount(transaction: Transaction, id: string): Promise<LedgerAccountTable | undefined> {
  return transaction
    .selectFrom('ledger_accounts')
    .selectAll()
    .where('id', '=', id)
    .$call(forUpdate(transaction))
    .executeTakeFirst();
}
