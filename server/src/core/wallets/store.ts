/** Reads and writes hosted wallets. */
import type { CoreApi, Input } from 'crypto-checkout/contract';
import { forShare, forUpdate } from '../db/locks.js';
import { isListed, readPage } from '../db/pages.js';
import type { WalletTable } from '../db/schema.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import { having, inScope, insertRow, rowById, updateRow } from '../db/rows.js';

export const insertWallet = insertRow('wallets');
export const updateWallet = updateRow('wallets');

/** A wallet, unless it is deleted. */
const walletOf = (reader: Reader, scope: Scope, id: string) =>
  rowById(reader, 'wallets', id).$call(inScope(scope)).where('deleted_at', 'is', null);

export function findWallet(reader: Reader, scope: Scope, id: string): Promise<WalletTable | undefined> {
  return walletOf(reader, scope, id).executeTakeFirst();
}

/** Like `findWallet`, and locks the row until the transaction ends. */
export function lockWallet(transaction: Transaction, scope: Scope, id: string) {
  return walletOf(transaction, scope, id).$call(forUpdate(transaction)).executeTakeFirst();
}

/** Any wallet, locked against changes until the transaction ends. Several transactions can hold this lock at once. */
export function lockWalletShared(transaction: Transaction, id: string): Promise<WalletTable | undefined> {
  return rowById(transaction, 'wallets', id).$call(forShare(transaction)).executeTakeFirst();
}

/** @param query its currency in upper case */
export function listWallets(reader: Reader, scope: Scope, query: Input<CoreApi['wallets']['list']>['query']) {
  const { currency, label } = query;
  const rows = reader
    .selectFrom('wallets')
    .selectAll()
    .where(isListed('wallets', scope, query))
    .where('deleted_at', 'is', null)
    .$call(having({ currency, label }));
  return readPage(rows, 'wallets', query);
}
