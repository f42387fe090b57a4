/** Reads and writes the ledger: postings, entries and accounts. */
import type { LedgerAccountTable, LedgerEntryTable, LedgerPostingTable } from '../db/schema.js';
import { inChunks } from '../db/chunks.js';
import { forUpdate } from '../db/locks.js';
import type { Mode } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import { send } from '../db/send.js';

/** @returns false if a posting with this key exists */
export async function insertPosting(transaction: Transaction, posting: LedgerPostingTable): Promise<boolean> {
  const result = await transaction
    .insertInto('ledger_postings')
    .values(posting)
    .onConflict((conflict) => conflict.column('key').doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function insertEntries(
  transaction: Transaction,
  entries: readonly LedgerEntryTable[],
): Promise<void> {
  await send(transaction, transaction.insertInto('ledger_entries').values(entries));
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
  return transaction
    .selectFrom('ledger_accounts')
    .selectAll()
    .where('id', '=', id)
    .$call(forUpdate(transaction))
    .executeTakeFirst();
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
): Promise<Pick<LedgerAccountTable, 'currency' | 'kind' | 'balance'>[]> {
  return reader
    .selectFrom('ledger_accounts')
    .select(['currency', 'kind', 'balance'])
    .where('merchant_id', '=', merchantId)
    .where('mode', '=', mode)
    .execute();
}

interface CreditEntry {
  readonly paymentId: string;
  readonly currency: string;
  readonly kind: LedgerAccountTable['kind'];
  readonly debit: string;
  readonly credit: string;
}

/** The entries that payments have in their merchant's available and debt accounts and in fee income. */
export async function readCredits(reader: Reader, paymentIds: readonly string[]): Promise<CreditEntry[]> {
  const rows = await inChunks(paymentIds, (chunk) =>
    reader
      .selectFrom('ledger_postings')
      .innerJoin('ledger_entries', 'ledger_entries.posting_id', 'ledger_postings.id')
      .innerJoin('ledger_accounts', 'ledger_accounts.id', 'ledger_entries.account_id')
      .select([
        'ledger_postings.payment_id as paymentId',
        'ledger_postings.currency',
        'ledger_accounts.kind',
        'ledger_entries.debit',
        'ledger_entries.credit',
      ])
      .where('ledger_postings.payment_id', 'in', chunk)
      .where((e) =>
        e.or([
          e('ledger_accounts.kind', 'in', ['available', 'fee_income']),
          e('ledger_accounts.id', 'like', '%/debt'),
        ]),
      )
      .execute(),
  );
  return rows.map(({ paymentId, ...row }) => ({ ...row, paymentId: paymentId ?? '' }));
}
