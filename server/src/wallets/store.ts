/** Reads and writes hosted wallets. */
import { forShare, forUpdate } from '../db/locks.js';
import { isListed, readPage } from '../db/pages.js';
import type { WalletTable } from '../db/schema.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { PageRequest } from '../shared/pagination.js';
import { inScope, insertRow, rowById, updateRow } from '../db/rows.js';

export interface WalletFilter extends PageRequest {
  /** In upper case. */
  readonly currency?: string | undefined;
  readonly label?: string | undefined;
}

export const insertWallet = insertRow('wallets');
export const updateWallet = updateRow('wallets');

/** A wallet, unless it is deleted. */
export function findWallet(reader: Reader, scope: Scope, id: string): Promise<WalletTable | undefined> {
  return rowById(reader, 'wallets', id)
    .$call(inScope(scope))
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Locks a wallet of any merchant, deleted or not, for a change in this transaction. */
export function lockWallet(transaction: Transaction, id: string): Promise<WalletTable | undefined> {
  return rowById(transaction, 'wallets', id).$call(forUpdate(transaction)).executeTakeFirst();
}

/** Locks it against changes until the transaction ends. Several transactions can hold this lock at once. */
export function lockWalletShared(transaction: Transaction, id: string): Promise<WalletTable | undefined> {
  return rowById(transaction, 'wallets', id).$call(forShare(transaction)).executeTakeFirst();
}

export async function listWallets(reader: Reader, scope: Scope, filter: WalletFilter) {
  const { currency, label } = filter;
  let query = reader
    .selectFrom('wallets')
    .selectAll()
    .where(isListed('wallets', scope, filter))
    .where('deleted_at', 'is', null);
  if (currency !== undefined) query = query.where('currency', '=', currency);
  if (label !== undefined) query = query.where('label', '=', label);
  return readPage(query, 'wallets', filter);
}
