/** Reads and writes the ledger: postings, entries and accounts. */
import { sql } from 'kysely';
import { type LedgerPostingTable, type Schema, tables } from '../db/schema.js';
import { valuesOf, type Values } from '../db/values.js';
import { forUpdate } from '../db/locks.js';
import type { Mode } from '../shared/scope.js';
import { engineOf, type Transaction, type Reader } from '../db/engine.js';
import { inFew, prepared, preparedIn, preparedInserts, preparedSend } from '../db/prepared.js';

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
 * Says of postings that an older release has written whose balance they change. @returns the number of postings named: 0 if all are
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
 * Locks accounts, in the order of their ids. Transactions that create accounts at the same time can still collide: one of them is
 * run again.
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
  const lock = async (ids: readonly string[]) => {
    for (const row of await lockAll(transaction, ids, {})) locked.set(row.id, accountRows.decode(row));
  };
  // A statement that has waited for a lock does not see the rows that its holder has added meanwhile, such as the first debt: the
  // next statement does. Both are sent together.
  const others = existing.filter((id) => !byId.has(id));
  await Promise.all([lock([...byId.keys()].sort()), lock([...new Set(others)].sort())]);
  const missing = [...byId.values()].filter(({ id }) => !locked.has(id));
  if (missing.length === 0) return locked;
  const inOrder = missing.sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const account of inOrder) {
    await transaction
      .insertInto('ledger_accounts')
      .values(accountRows.encode(account))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
  await lock(inOrder.map(({ id }) => id));
  return locked;
}

const lockAll = preparedIn((transaction, ids) =>
  transaction
    .selectFrom('ledger_accounts')
    .selectAll()
    .where('id', 'in', ids)
    // In the order of the list, whatever the language of the database.
    .orderBy(engineOf(transaction) === 'postgres' ? sql`id collate "C"` : sql`id`)
    .$call(forUpdate(transaction)),
);

/** Writes the balances of the changed accounts. */
export async function writeBalances(
  transaction: Transaction,
  changed: readonly string[],
  accounts: ReadonlyMap<string, AccountRow>,
): Promise<void> {
  const rows = [...new Set(changed)].flatMap((id) => accounts.get(id) ?? []);
  for (const few of inFew(rows)) await writeAll(transaction, few.map(accountRows.encode));
}

/** They exist: an upsert is how one statement gives each row a value of its own. */
const writeAll = preparedSend((transaction, rows: readonly Schema['ledger_accounts'][]) =>
  transaction
    .insertInto('ledger_accounts')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((e) => ({ balance: e.ref('excluded.balance') })),
    ),
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
