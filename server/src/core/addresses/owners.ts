/** The owners of deposit addresses, of both payments and wallets. */
import { inChunks } from '../db/chunks.js';
import type { Reader } from '../db/engine.js';
import { prepared } from '../db/prepared.js';
import type { Mode, Scope } from '../shared/scope.js';

/** The ids of the sources of treasuries' addresses, for `like`. */
export const forwarderSources = 'forwarder:%';

/** The addresses of a mode, each with the payment or the wallet that it was given to. */
export const withOwners = (reader: Reader, mode: Mode) =>
  reader
    .selectFrom('addresses')
    .leftJoin('payments', 'payments.id', 'addresses.payment_id')
    .leftJoin('wallets', 'wallets.id', 'addresses.wallet_id')
    .where('addresses.mode', '=', mode);

const given = (reader: Reader, mode: Mode, addresses: readonly string[]) =>
  withOwners(reader, mode)
    .select((e) => [
      'addresses.address',
      e.fn.coalesce('payments.merchant_id', 'wallets.merchant_id').as('merchant'),
    ])
    .where('addresses.address', 'in', addresses);

/** The merchant that an address of a mode was given to; undefined if it is nobody's. */
export async function merchantOf(reader: Reader, mode: Mode, address: string): Promise<string | undefined> {
  const [found] = await givenOne(reader, { mode, address });
  return found?.merchant ?? undefined;
}

const givenOne = prepared((reader, { mode, address }: { readonly mode: Mode; readonly address: string }) =>
  given(reader, mode, [address]),
);

export interface OwnedAddress {
  readonly paymentId: string | null;
  readonly walletId: string | null;
}

/** Finds which of these addresses belong to a merchant's payments and wallets, by address. */
export async function ownedAddresses(
  reader: Reader,
  { merchantId, mode }: Scope,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, OwnedAddress>> {
  const rows = await inChunks([...new Set(addresses)], (chunk) =>
    given(reader, mode, chunk).select(['addresses.payment_id', 'addresses.wallet_id']).execute(),
  );
  return new Map(
    rows
      .filter(({ merchant }) => merchant === merchantId)
      .map((row) => [row.address, { paymentId: row.payment_id, walletId: row.wallet_id }]),
  );
}

/** The merchants of the given addresses that belong to a treasury, by address. */
export async function forwarderMerchants(
  reader: Reader,
  mode: Mode,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await inChunks(addresses, (chunk) =>
    given(reader, mode, chunk).where('addresses.source_id', 'like', forwarderSources).execute(),
  );
  return new Map(rows.map(({ address, merchant }) => [address, merchant ?? '']));
}

/** True if an address is a treasury's. */
export async function isForwarder(reader: Reader, mode: Mode, address: string): Promise<boolean> {
  return (await forwarderMerchants(reader, mode, [address])).has(address);
}
