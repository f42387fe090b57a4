/** Reads and writes wallet addresses. */
import { isListed, readPage } from '../db/pages.js';
import type { WalletAddressTable } from '../db/schema.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { PageRequest } from '../shared/pagination.js';

export interface StoredWalletAddress extends WalletAddressTable {
  /** The address's own id if it is the primary one of its currency and network, otherwise null. */
  readonly primary_id: string | null;
}

export interface WalletAddressQuery extends PageRequest {
  readonly isPrimary?: boolean | undefined;
  readonly currency?: string | undefined;
  readonly network?: string | undefined;
  /** Any of these. */
  readonly addresses?: readonly string[] | undefined;
  readonly label?: string | undefined;
}

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

const selectAddresses = (reader: Reader) =>
  reader
    .selectFrom('wallet_addresses')
    .leftJoin('primary_wallet_addresses', 'primary_wallet_addresses.wallet_address_id', 'wallet_addresses.id')
    .selectAll('wallet_addresses')
    .select('primary_wallet_addresses.wallet_address_id as primary_id');

export function findWalletAddress(reader: Reader, { merchantId, mode }: Scope, id: string) {
  return selectAddresses(reader)
    .where('wallet_addresses.id', '=', id)
    .where((e) => e.and({ 'wallet_addresses.merchant_id': merchantId, 'wallet_addresses.mode': mode }))
    .executeTakeFirst();
}

export function listWalletAddresses(reader: Reader, scope: Scope, query: WalletAddressQuery) {
  const { isPrimary, currency, network, addresses, label } = query;
  const rows = selectAddresses(reader)
    .where(isListed('wallet_addresses', scope, query))
    .where((e) =>
      e.and([
        ...(isPrimary === undefined
          ? []
          : [e('primary_wallet_addresses.wallet_address_id', isPrimary ? 'is not' : 'is', null)]),
        ...(currency === undefined ? [] : [e('wallet_addresses.currency', '=', currency)]),
        ...(network === undefined ? [] : [e('wallet_addresses.network', '=', network)]),
        ...(addresses === undefined ? [] : [e('wallet_addresses.address', 'in', addresses)]),
        ...(label === undefined ? [] : [e('wallet_addresses.label', '=', label)]),
      ]),
    );
  return readPage(rows, 'wallet_addresses', query);
}
