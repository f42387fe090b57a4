/** Reads and writes bank accounts. */
import { forUpdate } from '../db/locks.js';
import { isListed, readPage } from '../db/pages.js';
import { updateRow } from '../db/rows.js';
import type { BankAccountTable } from '../db/schema.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { PageRequest } from '../shared/pagination.js';

export interface StoredBankAccount extends BankAccountTable {
  /** The account's own id if it is the merchant's primary one, otherwise null. */
  readonly primary_id: string | null;
}

export interface BankAccountQuery extends PageRequest {
  readonly isPrimary?: boolean | undefined;
  readonly country?: string | undefined;
  readonly currency?: string | undefined;
  /** A bank's code or name. */
  readonly bank?: string | undefined;
}

/** @returns false if the merchant already has this account */
export async function insertBankAccount(transaction: Transaction, row: BankAccountTable): Promise<boolean> {
  const result = await transaction
    .insertInto('bank_accounts')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['merchant_id', 'mode', 'country', 'bank_code', 'account_number', 'currency'])
        .where('archived_at', 'is', null)
        .doNothing(),
    )
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

const selectAccounts = (reader: Reader) =>
  reader
    .selectFrom('bank_accounts')
    .leftJoin('primary_bank_accounts', 'primary_bank_accounts.bank_account_id', 'bank_accounts.id')
    .selectAll('bank_accounts')
    .select('primary_bank_accounts.bank_account_id as primary_id')
    .where('bank_accounts.archived_at', 'is', null);

export function findBankAccount(reader: Reader, { merchantId, mode }: Scope, id: string) {
  return selectAccounts(reader)
    .where('bank_accounts.id', '=', id)
    .where((e) => e.and({ 'bank_accounts.merchant_id': merchantId, 'bank_accounts.mode': mode }))
    .executeTakeFirst();
}

/** Locks an account until the transaction ends. */
export async function lockBankAccount(transaction: Transaction, scope: Scope, id: string) {
  // Lock first, then read: PostgreSQL cannot lock rows through an outer join.
  await transaction
    .selectFrom('bank_accounts')
    .select('id')
    .where((e) => e.and({ id, merchant_id: scope.merchantId }))
    .$call(forUpdate(transaction))
    .executeTakeFirst();
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

export function listBankAccounts(reader: Reader, scope: Scope, query: BankAccountQuery) {
  const { isPrimary, country, currency, bank } = query;
  const rows = selectAccounts(reader)
    .where(isListed('bank_accounts', scope, query))
    .where((e) =>
      e.and([
        ...(isPrimary === undefined
          ? []
          : [e('primary_bank_accounts.bank_account_id', isPrimary ? 'is not' : 'is', null)]),
        ...(country === undefined ? [] : [e('country', '=', country)]),
        ...(currency === undefined ? [] : [e('currency', '=', currency)]),
        ...(bank === undefined ? [] : [e.or([e('bank_code', '=', bank), e('bank_name', '=', bank)])]),
      ]),
    );
  return readPage(rows, 'bank_accounts', query);
}
