/** Reads and writes the ledger: postings, entries and accounts. */
import { sql } from 'kysely';
import { type LedgerPostingTable, type Schema, tables } from '../db/schema.js';
import { valuesOf, type Values } from '../db/values.js';
import { forUpdate } from '../db/locks.js';
import type { Mode } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import { inFew, prepared, preparedInserts, preparedSend } from '../db/prepared.js';
import { rowById } from '../db/rows.js';

const accountRows = valuesOf(tables.ledger_accounts);
const entryRows = valuesOf(tables.ledger_entries);
export type AccountRow = Values<typeof tables.ledger_accounts>;
export type EntryRow = Values<typeof tables.ledger_entries>;

/** Inserts the postings whose keys do not exist yet. @returns the ids of those */
export async function insertPostings(
  transaction: Transaction,
  postings: readonly LedgerPostingTable[],
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const few of inFew(postings)) {
    for (const { id } of await insertNew(transaction, few)) ids.add(id);
  }
  return ids;
}

const insertNew = prepared((transaction, postings: readonly LedgerPostingTable[]) =>
  transaction
    .insertInto('ledger_postings')
    .values(postings)
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('id'),
);

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

const insertEncoded = preparedInserts('ledger_entries');

export const insertEntries = (transaction: Transaction, entries: readonly EntryRow[]): Promise<void> =>
  insertEncoded(transaction, entries.map(entryRows.encode));

/**
 * Locks accounts, in the order of their ids.
 * @param accounts missing ones are created
 * @param existing ids of accounts to lock if they exist. A missing one stays missing: its creator must hold the lock
 * of one of `accounts`.
 */
export async function lockAccounts(
  transaction: Transaction,
  accounts: readonly AccountRow[],
  existing: readonly string[] = [],
): Promise<Map<string, AccountRow>> {
  const byId = new Map(accounts.map((account) => [account.id, account]));
  const locked = new Map<string, AccountRow>();
  for (const id of [...new Set([...byId.keys(), ...existing])].sort()) {
    let row = await lockAccount(transaction, id);
    const missing = byId.get(id);
    if (!row && missing) {
      await transaction
        .insertInto('ledger_accounts')
        .values(accountRows.encode(missing))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      row = await lockAccount(transaction, id);
    }
    if (row) locked.set(id, row);
  }
  return locked;
}

const lockOne = prepared((transaction, { id }: { readonly id: string }) =>
  rowById(transaction, 'ledger_accounts', id).$call(forUpdate(transaction)),
);

async function lockAccount(transaction: Transaction, id: string): Promise<AccountRow | undefined> {
  const [row] = await lockOne(transaction, { id });
  return accountRows.decode(row);
}

/** Writes the balances of the changed accounts. */
export async function writeBalances(
  transaction: Transaction,
  changed: readonly string[],
  accounts: ReadonlyMap<string, AccountRow>,
): Promise<void> {
  for (const id of new Set(changed)) {
    const balance = accounts.get(id)?.balance;
    if (balance !== undefined) await writeBalance(transaction, { id, ...accountRows.encode({ balance }) });
  }
}

const writeBalance = preparedSend(
  (transaction, { id, balance }: Pick<Schema['ledger_accounts'], 'id' | 'balance'>) =>
    transaction.updateTable('ledger_accounts').set({ balance }).where('id', '=', id),
);

/** The balances of a merchant's accounts. */
export async function readBalances(
  reader: Reader,
  merchantId: string,
  mode: Mode,
): Promise<Pick<AccountRow, 'id' | 'currency' | 'kind' | 'network' | 'balance'>[]> {
  const rows = await reader
    .selectFrom('ledger_accounts')
    .select(['id', 'currency', 'kind', 'network', 'balance'])
    .where((e) => e.and({ merchant_id: merchantId, mode }))
    .execute();
  return rows.map(accountRows.decode);
}
