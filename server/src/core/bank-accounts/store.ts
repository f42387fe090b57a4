/** Reads and writes bank accounts. */
import type { CoreApi, Input } from 'crypto-checkout/contract';
import type { ExpressionBuilder } from 'kysely';
import { forUpdate } from '../db/locks.js';
import { isListed, readPage } from '../db/pages.js';
import { hasRows, having, inScope, rowById, updateRow } from '../db/rows.js';
import type { BankAccountTable, Schema } from '../db/schema.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';

export interface StoredBankAccount extends BankAccountTable {
  /** See `primaryId`. */
  readonly primary_id: string | null;
}

/** @returns false if the merchant already has this account */
export async function insertBankAccount(transaction: Transaction, row: BankAccountTable): Promise<boolean> {
  const result = await transaction
    .insertInto('bank_accounts')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['merchant_id', 'mode', 'country', 'bank_code', 'number_index', 'currency'])
        .where('archived_at', 'is', null)
        .doNothing(),
    )
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** True if the merchant has an account like this one, under any of these index values. */
export function hasBankAccount(
  transaction: Transaction,
  { merchant_id, mode, country, bank_code, currency }: BankAccountTable,
  numberIndexes: readonly string[],
): Promise<boolean> {
  return hasRows(
    transaction
      .selectFrom('bank_accounts')
      .where((e) => e.and({ merchant_id, mode, country, bank_code, currency }))
      .where('number_index', 'in', numberIndexes)
      .where('archived_at', 'is', null),
  );
}

/** The account's own id if it is its merchant's primary one, otherwise null. */
const primaryId = (e: ExpressionBuilder<Schema, 'bank_accounts'>) =>
  e
    .selectFrom('primary_bank_accounts')
    .select('bank_account_id')
    .whereRef('bank_account_id', '=', 'bank_accounts.id');

const selectAccounts = (reader: Reader) =>
  reader
    .selectFrom('bank_accounts')
    .selectAll()
    .select((e) => primaryId(e).as('primary_id'))
    .where('archived_at', 'is', null);

export function findBankAccount(reader: Reader, scope: Scope, id: string) {
  return selectAccounts(reader).where('id', '=', id).$call(inScope(scope)).executeTakeFirst();
}

/** Locks an account until the transaction ends. */
export async function lockBankAccount(transaction: Transaction, scope: Scope, id: string) {
  // Lock first, then read: the previous holder of the lock may have made it primary.
  await rowById(transaction, 'bank_accounts', id)
    .$call(inScope(scope))
    .$call(forUpdate(transaction))
    .execute();
  return findBankAccount(transaction, scope, id);
}

export async function setPrimary(transaction: Transaction, scope: Scope, id: string): Promise<void> {
  await transaction
    .insertInto('primary_bank_accounts')
    .values({ merchant_id: scope.merchantId, mode: scope.mode, bank_account_id: id })
    .onConflict((conflict) => conflict.columns(['merchant_id', 'mode']).doUpdateSet({ bank_account_id: id }))
    .execute();
}

export const updateBankAccount = updateRow('bank_accounts');

/** Archives an account. It is no longer primary then. */
export async function archiveBankAccount(transaction: Transaction, id: string, now: number): Promise<void> {
  await transaction.deleteFrom('primary_bank_accounts').where('bank_account_id', '=', id).execute();
  await updateBankAccount(transaction, id, { archived_at: now, updated_at: now });
}

export function listBankAccounts(
  reader: Reader,
  scope: Scope,
  query: Input<CoreApi['bankAccounts']['list']>['query'],
) {
  const { isPrimary, country, currency, accountBank: bank } = query;
  let rows = selectAccounts(reader)
    .where(isListed('bank_accounts', scope, query))
    .$call(having({ country, currency }));
  if (isPrimary !== undefined) rows = rows.where((e) => e(primaryId(e), isPrimary ? 'is not' : 'is', null));
  if (bank !== undefined) rows = rows.where((e) => e.or({ bank_code: bank, bank_name: bank }));
  return readPage(rows, 'bank_accounts', query);
}
