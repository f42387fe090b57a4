/** Deposit addresses: one per payment, and one per wallet and network. An address is never assigned twice. */
import { inChunks } from '../db/chunks.js';
import type { Database } from '../db/database.js';
import type { AddressTable } from '../db/schema.js';
import type { NewId } from '../shared/ids.js';
import type { Mode, Scope } from '../shared/scope.js';
import type { Network } from '../chains/networks.js';
import { createAddressPool } from './address-pool.js';
import type { AddressSource, AddressSources } from './address-sources.js';
import type { Transaction, Reader } from '../db/engine.js';
import { preparedIn, preparedSend } from '../db/prepared.js';

export type DepositAddresses = ReturnType<typeof createDepositAddresses>;

const insertAddress = preparedSend((transaction, row: AddressTable) =>
  transaction.insertInto('addresses').values(row),
);

const findAddresses = preparedIn((reader, addresses, { mode }: { readonly mode: Mode }) =>
  reader.selectFrom('addresses').selectAll().where('address', 'in', addresses).where('mode', '=', mode),
);

/** Modules may refuse to give addresses out, and note which were reserved. */
export interface AddressHooks {
  /** False while no address of a source must be given out on a network, which is not offered then. Asks no node. */
  isOffered(network: Network, source: AddressSource): boolean;
  /** A number that changes when reserved addresses must not be used any more. Problem: `service_unavailable`. */
  addressEpoch(reader: Reader, scope: Scope, sourceId: string): Promise<number>;
  /** In the transaction that reserves the indexes of a source from `first` on, up to `next`. Same problem. */
  onAddressesReserved(
    transaction: Transaction,
    mode: Mode,
    sourceId: string,
    first: number,
    next: number,
  ): void;
}

/** @param sourcesOf the sources of a network's addresses: the simulated networks have keys of their own */
export function createDepositAddresses(
  database: Pick<Database, 'write'>,
  sourcesOf: (network: Network) => AddressSources,
  newId: NewId,
  hooks: AddressHooks,
) {
  const pools = new Map<string, ReturnType<typeof createAddressPool>>();

  const findSource = (scope: Scope, network: Network): AddressSource | undefined => {
    const source = sourcesOf(network).find(scope, network.family, network.addressNet);
    return source && hooks.isOffered(network, source) ? source : undefined;
  };

  function requireSource(scope: Scope, network: Network): AddressSource {
    const source = findSource(scope, network);
    if (source) return source;
    throw new Error(`The merchant ${scope.merchantId} has no deposit key for ${network.name}`);
  }

  function poolOf(scope: Scope, { family, addressNet }: Network, source: AddressSource, epoch: number) {
    // Families and networks can share a key: they then share its index count, but write addresses differently.
    const key = `${scope.mode}/${family}/${addressNet ?? ''}/${source.id}/${epoch}`;
    const pool =
      pools.get(key) ??
      createAddressPool(source, database, undefined, (transaction, first, next) =>
        hooks.onAddressesReserved(transaction, scope.mode, source.id, first, next),
      );
    pools.set(key, pool);
    return pool;
  }

  return {
    /** True if the merchant has a key for the network: without one, it is not offered to payers. */
    canAssign: (scope: Scope, network: Network): boolean => findSource(scope, network) !== undefined,

    /** Gives a payment or a wallet a new address for a currency on a network. */
    async assign(
      transaction: Transaction,
      scope: Scope,
      owner: { readonly paymentId: string } | { readonly walletId: string },
      { currency, network }: { readonly currency: { readonly code: string }; readonly network: Network },
      now: number,
    ): Promise<AddressTable> {
      const owned =
        'walletId' in owner
          ? { payment_id: null, wallet_id: owner.walletId }
          : { payment_id: owner.paymentId, wallet_id: null };
      const source = requireSource(scope, network);
      const epoch = await hooks.addressEpoch(transaction, scope, source.id);
      const { index, address } = await poolOf(scope, network, source, epoch).take(transaction);
      const row: AddressTable = {
        id: newId(),
        mode: scope.mode,
        ...owned,
        currency: currency.code,
        network: network.code,
        address,
        source_id: source.id,
        derivation_index: index,
        created_at: now,
      };
      await insertAddress(transaction, row);
      return row;
    },

    /** Finds which of the addresses were assigned in a mode. */
    find: (reader: Reader, mode: Mode, addresses: readonly string[]) =>
      findAddresses(reader, addresses, { mode }),

    /** All addresses of these wallets, sorted by network. */
    ofWallets: (reader: Reader, walletIds: readonly string[]) =>
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
