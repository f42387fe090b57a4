/** Deposit addresses: one for each payment or wallet, currency and network. An address is never given to a second one. */
import { inChunks } from '../../db/chunks.js';
import type { AddressTable } from '../../db/schema.js';
import type { NewId } from '../../shared/ids.js';
import type { Mode, Scope } from '../../shared/scope.js';
import type { Network } from '../networks.js';
import { createAddressPool, type AddressPool } from './address-pool.js';
import type { AddressSources } from './address-sources.js';
import type { Transaction, Reader } from '../../db/engine.js';
import { prepared, preparedSend } from '../../db/prepared.js';

/** Whose address it is. */
export type AddressOwner = { readonly paymentId: string } | { readonly walletId: string };

/** What an address is for. */
export interface AddressUse {
  readonly currency: { readonly code: string };
  readonly network: Network;
}

export interface DepositAddresses {
  /** The address of an owner for a currency on a network: the same one when it is asked for again. */
  assign(
    transaction: Transaction,
    scope: Scope,
    owner: AddressOwner,
    use: AddressUse,
    now: number,
  ): Promise<AddressTable>;
  /** Those of the given addresses that were assigned in a mode. */
  find(reader: Reader, mode: Mode, addresses: readonly string[]): Promise<AddressTable[]>;
  /** All addresses of these wallets, by network. */
  ofWallets(reader: Reader, walletIds: readonly string[]): Promise<AddressTable[]>;
}

interface Use {
  readonly currency: string;
  readonly network: string;
}

const findOfPayment = prepared(
  (reader, { paymentId, currency, network }: Use & { readonly paymentId: string }) =>
    reader
      .selectFrom('addresses')
      .selectAll()
      .where('payment_id', '=', paymentId)
      .where('currency', '=', currency)
      .where('network', '=', network),
);

const findOfWallet = prepared(
  (reader, { walletId, currency, network }: Use & { readonly walletId: string }) =>
    reader
      .selectFrom('addresses')
      .selectAll()
      .where('wallet_id', '=', walletId)
      .where('currency', '=', currency)
      .where('network', '=', network),
);

const insertAddress = preparedSend((transaction, row: AddressTable) =>
  transaction.insertInto('addresses').values(row),
);

export function createDepositAddresses(sources: AddressSources, newId: NewId): DepositAddresses {
  const pools = new Map<string, AddressPool>();

  function poolOf(scope: Scope, { family, name }: Network): { sourceId: string; pool: AddressPool } {
    const source = sources.find(scope, family);
    if (!source) throw new Error(`The merchant ${scope.merchantId} has no deposit key for ${name}`);
    // One key may serve several families: they count its indexes together and write the addresses differently.
    const key = `${scope.mode}/${family}/${source.id}`;
    const pool = pools.get(key) ?? createAddressPool(source);
    pools.set(key, pool);
    return { sourceId: source.id, pool };
  }

  return {
    async assign(transaction, scope, owner, { currency, network }, now) {
      const owned =
        'walletId' in owner
          ? { payment_id: null, wallet_id: owner.walletId }
          : { payment_id: owner.paymentId, wallet_id: null };
      const use = { currency: currency.code, network: network.code };
      const [existing] = await ('walletId' in owner
        ? findOfWallet(transaction, { ...use, walletId: owner.walletId })
        : findOfPayment(transaction, { ...use, paymentId: owner.paymentId }));
      if (existing) return existing;

      const { sourceId, pool } = poolOf(scope, network);
      const { index, address } = await pool.take(transaction);
      const row: AddressTable = {
        id: newId(),
        mode: scope.mode,
        ...owned,
        ...use,
        address,
        source_id: sourceId,
        derivation_index: index,
        created_at: now,
      };
      await insertAddress(transaction, row);
      return row;
    },

    find: (reader, mode, addresses) =>
      inChunks(addresses, (chunk) =>
        reader
          .selectFrom('addresses')
          .selectAll()
          .where('address', 'in', chunk)
          .where('mode', '=', mode)
          .execute(),
      ),

    ofWallets: (reader, walletIds) =>
      inChunks(walletIds, (chunk) =>
        reader
          .selectFrom('addresses')
          .selectAll()
          .where('wallet_id', 'in', chunk)
          .orderBy('network')
          .execute(),
      ),
  };
}
