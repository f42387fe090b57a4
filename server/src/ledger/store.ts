/** Reads and writes the ledger: postings, entries and accounts. */
import { sql } from 'kysely';
import type { LedgerAccountTable, LedgerEntryTable, LedgerPostingTable } from '../db/schema.js';
import { chunksOf, inChunks } from '../db/chunks.js';
import { forUpdate } from '../db/locks.js';
import type { Mode } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import { send } from '../db/send.js';
import { rowById } from '../db/rows.js';

/** Inserts the postings whose keys do not exist yet. @returns the ids of those */
export async function insertPostings(
  transaction: Transaction,
  postings: readonly LedgerPostingTable[],
): Promise<ReadonlySet<string>> {
  const rows = await inChunks(postings, (chunk) =>
    transaction
      .insertInto('ledger_postings')
      .values(chunk)
      .onConflict((conflict) => conflict.column('key').doNothing())
      .returning('id')
      .execute(),
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Says of postings that an older release has written whose balance they change. @returns how many it named: 0 if all are
 */
export async function nameMerchants(transaction: Transaction, limit: number): Promise<number> {
  const unnamed = transaction.selectFrom('ledger_postings').select('id').where('merchant_id', 'is', null);
  const named = await transaction
    .updateTable('ledger_postings')
    .set({
      merchant_id: sql<string>`coalesce((
        select account.merchant_id from ledger_entries as entry
        join ledger_accounts as account on account.id = entry.account_id
        where entry.posting_id = ledger_postings.id and account.kind in ('unallocated', 'available', 'reserved')
        limit 1), '')`,
    })
    .where('id', 'in', unnamed.limit(limit))
    .executeTakeFirst();
  return Number(named.numUpdatedRows);
}

export async function insertEntries(transaction: Transaction, entries: readonly LedgerEntryTable[]) {
  for (const chunk of chunksOf(entries)) {
    await send(transaction, transaction.insertInto('ledger_entries').values(chunk));
  }
}

/**
 * Locks accounts, in the order of their ids.
 * @param accounts missing ones are created
 * @param existing ids of accounts to lock if they exist. A missing one stays missing: whoever creates it must hold
 *   the lock of one of `accounts`.
 */
export async function lockAccounts(
  transaction: Transaction,
  accounts: readonly LedgerAccountTable[],
  existing: readonly string[] = [],
): Promise<Map<string, LedgerAccountTable>> {
  const byId = new Map(accounts.map((account) => [account.id, account]));
  const locked = new Map<string, LedgerAccountTable>();
  for (const id of [...new Set([...byId.keys(), ...existing])].sort()) {
    let row = await lockAccount(transaction, id);
    const missing = byId.get(id);
    if (!row && missing) {
      await transaction
        .insertInto('ledger_accounts')
        .values(missing)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      row = await lockAccount(transaction, id);
    }
    if (row) locked.set(id, row);
  }
  return locked;
}

function lockAccount(transaction: Transaction, id: string): Promise<LedgerAccountTable | undefined> {
  return rowById(transaction, 'ledger_accounts', id).$call(forUpdate(transaction)).executeTakeFirst();
}

/** Writes the balances of the changed accounts. */
export async function writeBalances(
  transaction: Transaction,
  changed: readonly string[],
  accounts: ReadonlyMap<string, LedgerAccountTable>,
): Promise<void> {
  for (const id of new Set(changed)) {
    await send(
      transaction,
      transaction
        .updateTable('ledger_accounts')
        .set({ balance: accounts.get(id)?.balance })
        .where('id', '=', id),
    );
  }
}

/** The balances of a merchant's accounts. */
export function readBalances(
  reader: Reader,
  merchantId: string,
  mode: Mode,
): Promise<Pick<LedgerAccountTable, 'id' | 'currency' | 'kind' | 'network' | 'balance'>[]> {
  return reader
    .selectFrom('ledger_accounts')
    .select(['id', 'currency', 'kind', 'network', 'balance'])
    .where((e) => e.and({ merchant_id: merchantId, mode }))
    .execute();
}
