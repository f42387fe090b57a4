/** Deposit addresses: one for each payment, currency and network, derived from extended public keys and never reused. */
import type { AddressSource } from '../chains/chain.js';
import type { PaymentOption } from '../currencies/currencies.js';
import type { Reader, Transaction } from '../db/database.js';
import type { AddressTable } from '../db/schema.js';
import type { NewId } from '../ids.js';

export interface Addresses {
  /** The address of a payment for an option; the same one when it is asked for again. */
  assign(
    transaction: Transaction,
    paymentId: string,
    option: PaymentOption,
    now: number,
  ): Promise<AddressTable>;
  retrieve(reader: Reader, id: string): Promise<AddressTable>;
  /** Those of the given addresses that are ours. */
  find(reader: Reader, addresses: readonly string[]): Promise<AddressTable[]>;
}

export function createAddresses(sources: Readonly<Record<string, AddressSource>>, newId: NewId): Addresses {
  return {
    async assign(transaction, paymentId, { currency, network }, now) {
      const existing = await transaction
        .selectFrom('addresses')
        .selectAll()
        .where('payment_id', '=', paymentId)
        .where('currency', '=', currency.code)
        .where('network', '=', network.code)
        .executeTakeFirst();
      if (existing) return existing;

      const source = sources[network.family];
      if (!source) throw new Error(`There is no extended public key for ${network.family}`);
      const index = await takeIndex(transaction, source.family);
      const address = {
        id: newId(),
        payment_id: paymentId,
        currency: currency.code,
        network: network.code,
        address: source.derive(index),
        derivation_index: index,
        created_at: now,
      };
      await transaction.insertInto('addresses').values(address).execute();
      return address;
    },

    retrieve: (reader, id) =>
      reader.selectFrom('addresses').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),

    async find(reader, addresses) {
      const found: AddressTable[] = [];
      // SQLite and PostgreSQL both bound the parameters of one statement.
      for (let start = 0; start < addresses.length; start += 500) {
        const chunk = addresses.slice(start, start + 500);
        found.push(
          ...(await reader.selectFrom('addresses').selectAll().where('address', 'in', chunk).execute()),
        );
      }
      return found;
    },
  };
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
