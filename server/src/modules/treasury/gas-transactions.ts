/** Stores the transactions of gas keys. */
import type { Reader, Transaction } from '../../core/db/engine.js';
import { forUpdate } from '../../core/db/locks.js';
import { hasRows, updateRow } from '../../core/db/rows.js';
import { valuesOf } from '../../core/db/values.js';
import { treasuryTables, type GasTransactionRow } from './tables.js';

const transactions = valuesOf(treasuryTables.gas_transactions);

/** `sender` is the address of the key. */
export type GasAccount = Pick<GasTransactionRow, 'mode' | 'network' | 'sender'>;

const of = (reader: Reader, { mode, network, sender }: GasAccount) =>
  reader.selectFrom('gas_transactions').where((e) => e.and({ mode, network, sender }));

/** Those that may still get into a block: lowest nonce first, then the newest attempt. */
export async function openTransactions(reader: Reader, account: GasAccount): Promise<GasTransactionRow[]> {
  const rows = await of(reader, account)
    .selectAll()
    .where('status', '=', 'open')
    .orderBy('nonce')
    .orderBy('attempt', 'desc')
    .execute();
  return rows.map(transactions.decode);
}

/** The nonce after the last that was signed; 0 if none was. */
export async function nextNonce(reader: Reader, account: GasAccount): Promise<number> {
  const row = await of(reader, account).select('nonce').orderBy('nonce', 'desc').limit(1).executeTakeFirst();
  return row ? row.nonce + 1 : 0;
}

/** True if an address is or was that of a gas key, on any network. @param lower in lower case */
export const hasSigned = (reader: Reader, lower: string): Promise<boolean> =>
  hasRows(reader.selectFrom('gas_transactions').where((e) => e(e.fn('lower', ['sender']), '=', lower)));

/** @returns false if the nonce and attempt were signed already, maybe by another process */
export async function insertTransaction(transaction: Transaction, row: GasTransactionRow): Promise<boolean> {
  const inserted = await transaction
    .insertInto('gas_transactions')
    .values(transactions.encode(row))
    // By every unique index: two servers sign the same call as the same transaction, so the hash collides too, and
    // PostgreSQL may find that first.
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  if (inserted.length > 0) return true;
  const sameNonce = of(transaction, row).where((e) => e.and({ nonce: row.nonce, attempt: row.attempt }));
  if (!(await hasRows(sameNonce)))
    throw new Error(`The transaction ${row.tx_hash} is stored with another nonce`);
  return false;
}

/** Ends all attempts of a nonce: one got into a block, or none can any more. */
export async function endNonce(
  transaction: Transaction,
  { mode, network, sender, nonce }: GasTransactionRow,
  now: number,
): Promise<void> {
  await transaction
    .updateTable('gas_transactions')
    .set({ status: 'lost', ended_at: now })
    .where((e) => e.and({ mode, network, sender, nonce, status: 'open' }))
    .execute();
}

const updateStored = updateRow('gas_transactions');
export const updateTransaction = (
  transaction: Transaction,
  id: string,
  changes: Partial<GasTransactionRow>,
) => updateStored(transaction, id, transactions.encode(changes));

/** The transactions signed from a nonce on, ended or not. Locked until the transaction ends. */
export async function lockTransactionsFrom(
  transaction: Transaction,
  account: GasAccount,
  nonce: number,
): Promise<GasTransactionRow[]> {
  const rows = await of(transaction, account)
    .selectAll()
    .where('nonce', '>=', nonce)
    .orderBy('id')
    .$call(forUpdate(transaction))
    .execute();
  return rows.map(transactions.decode);
}

/** The transactions that may have cost something since a time: what each cost, or what it can cost at most. */
export async function transactionsSince(
  reader: Reader,
  account: GasAccount,
  since: number,
  exceptNonce: number,
): Promise<Pick<GasTransactionRow, 'nonce' | 'cost' | 'gas_limit' | 'max_fee' | 'status'>[]> {
  const rows = await of(reader, account)
    .select(['nonce', 'cost', 'gas_limit', 'max_fee', 'status'])
    .where('nonce', '!=', exceptNonce)
    .where((e) => e.or([e('created_at', '>', since), e('ended_at', '>', since), e('status', '=', 'open')]))
    .execute();
  return rows.map(transactions.decode);
}

/** Newest first, of all networks. @param treasuries only those that pay one of them; all if it is undefined */
export async function listTransactions(
  reader: Reader,
  most: number,
  treasuries: readonly string[] | undefined,
): Promise<GasTransactionRow[]> {
  const pays = (treasury: string) => `%${treasury.slice(2).toLowerCase()}%`;
  const rows = await reader
    .selectFrom('gas_transactions')
    .selectAll()
    .$if(treasuries !== undefined, (all) =>
      all.where((e) => e.or((treasuries ?? []).map((treasury) => e('call_data', 'like', pays(treasury))))),
    )
    .orderBy('created_at', 'desc')
    .orderBy('nonce', 'desc')
    .orderBy('attempt', 'desc')
    .limit(most)
    .execute();
  return rows.map(transactions.decode);
}
