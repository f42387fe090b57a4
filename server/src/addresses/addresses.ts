/** Deposit addresses: one for each payment or wallet, currency and network, derived from extended public keys and never reused. */
import type { AddressSource } from '../chains/chain.js';
import type { PaymentOption } from '../currencies/currencies.js';
import type { Reader, Transaction } from '../db/database.js';
import type { AddressTable } from '../db/schema.js';
import type { NewId } from '../ids.js';
import { deriveAhead } from './ahead.js';

/** Whose address it is. */
export type AddressOwner = { readonly paymentId: string } | { readonly walletId: string };

export interface Addresses {
  /** The address of an owner for an option; the same one when it is asked for again. */
  assign(
    transaction: Transaction,
    owner: AddressOwner,
    option: PaymentOption,
    now: number,
  ): Promise<AddressTable>;
  /** Those of the given addresses that are ours. */
  find(reader: Reader, addresses: readonly string[]): Promise<AddressTable[]>;
  /** All addresses of these wallets, by network. */
  ofWallets(reader: Reader, walletIds: readonly string[]): Promise<AddressTable[]>;
}

export function createAddresses(sources: Readonly<Record<string, AddressSource>>, newId: NewId): Addresses {
  const derivations = new Map(
    Object.entries(sources).map(([family, source]) => [
      family,
      { family: source.family, derive: deriveAhead((index) => source.derive(index)) },
    ]),
  );

  return {
    async assign(transaction, owner, { currency, network }, now) {
      const owned =
        'walletId' in owner
          ? { payment_id: null, wallet_id: owner.walletId }
          : { payment_id: owner.paymentId, wallet_id: null };
      const existing = await transaction
        .selectFrom('addresses')
        .selectAll()
        .where((e) =>
          'walletId' in owner ? e('wallet_id', '=', owner.walletId) : e('payment_id', '=', owner.paymentId),
        )
        .where('currency', '=', currency.code)
        .where('network', '=', network.code)
        .executeTakeFirst();
      if (existing) return existing;

      const derivation = derivations.get(network.family);
      if (!derivation) throw new Error(`There is no extended public key for ${network.family}`);
      const index = await takeIndex(transaction, derivation.family);
      const address = {
        id: newId(),
        ...owned,
        currency: currency.code,
        network: network.code,
        address: derivation.derive(index),
        derivation_index: index,
        created_at: now,
      };
      await transaction.insertInto('addresses').values(address).execute();
      return address;
    },

    find: (reader, addresses) =>
      inChunks(addresses, (chunk) =>
        reader.selectFrom('addresses').selectAll().where('address', 'in', chunk).execute(),
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

/** SQLite and PostgreSQL both bound the parameters of one statement. */
async function inChunks<T>(
  values: readonly string[],
  select: (chunk: readonly string[]) => Promise<T[]>,
): Promise<T[]> {
  const found: T[] = [];
  for (let start = 0; start < values.length; start += 500) {
    found.push(...(await select(values.slice(start, start + 500))));
  }
  return found;
}

async function takeIndex(transaction: Transaction, family: string): Promise<number> {
  const { next_index: next } = await transaction
    .insertInto('derivations')
    .values({ family, next_index: 1 })
    .onConflict((conflict) =>
      conflict.column('family').doUpdateSet((e) => ({ next_index: e('derivations.next_index', '+', 1) })),
    )
    .returning('next_index')
    .executeTakeFirstOrThrow();
  return next - 1;
}
