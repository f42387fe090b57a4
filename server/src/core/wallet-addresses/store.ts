/** Reads and writes wallet addresses. */
import type { CoreApi, Input } from 'crypto-checkout/contract';
import type { ExpressionBuilder } from 'kysely';
import { isListed, readPage } from '../db/pages.js';
import { having, inScope } from '../db/rows.js';
import type { Schema, WalletAddressTable } from '../db/schema.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';

export interface StoredWalletAddress extends WalletAddressTable {
  /** See `primaryId`. */
  readonly primary_id: string | null;
}

export type WalletAddressQuery = Omit<Input<CoreApi['walletAddresses']['list']>['query'], 'address'> & {
  /** Any of these. */
  readonly addresses?: readonly string[] | undefined;
};

/** @returns false if the merchant already has this address */
export async function insertWalletAddress(transaction: Transaction, row: WalletAddressTable) {
  const result = await transaction
    .insertInto('wallet_addresses')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['merchant_id', 'mode', 'address', 'currency', 'network']).doNothing(),
    )
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function setPrimary(transaction: Transaction, row: WalletAddressTable): Promise<void> {
  const { merchant_id, mode, currency, network, id } = row;
  await transaction
    .insertInto('primary_wallet_addresses')
    .values({ merchant_id, mode, currency, network, wallet_address_id: id })
    .onConflict((conflict) =>
      conflict.columns(['merchant_id', 'mode', 'currency', 'network']).doUpdateSet({ wallet_address_id: id }),
    )
    .execute();
}

/** The address's own id if it is the primary one of its currency and network, otherwise null. */
const primaryId = (e: ExpressionBuilder<Schema, 'wallet_addresses'>) =>
  e
    .selectFrom('primary_wallet_addresses')
    .select('wallet_address_id')
    .whereRef('wallet_address_id', '=', 'wallet_addresses.id');

const selectAddresses = (reader: Reader) =>
  reader
    .selectFrom('wallet_addresses')
    .selectAll()
    .select((e) => primaryId(e).as('primary_id'));

export function findWalletAddress(reader: Reader, scope: Scope, id: string) {
  return selectAddresses(reader).where('id', '=', id).$call(inScope(scope)).executeTakeFirst();
}

/**
 * The saved address that a transfer goes to. One saved for the network takes precedence over one without a network.
 * @param to codes and address in canonical form
 */
export function findByAddress(
  reader: Reader,
  scope: Scope,
  to: Readonly<Record<'address' | 'currency' | 'network', string>>,
) {
  const { address, currency, network } = to;
  return selectAddresses(reader)
    .$call(inScope(scope))
    .$call(having({ address, currency }))
    .where('network', 'in', [network, ''])
    .orderBy('network', 'desc')
    .executeTakeFirst();
}

export function listWalletAddresses(reader: Reader, scope: Scope, query: WalletAddressQuery) {
  const { isPrimary, currency, network, addresses, label } = query;
  let rows = selectAddresses(reader)
    .where(isListed('wallet_addresses', scope, query))
    .$call(having({ currency, network, label }));
  if (isPrimary !== undefined) rows = rows.where((e) => e(primaryId(e), isPrimary ? 'is not' : 'is', null));
  if (addresses !== undefined) rows = rows.where('address', 'in', addresses);
  return readPage(rows, 'wallet_addresses', query);
}
