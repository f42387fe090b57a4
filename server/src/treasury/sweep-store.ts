/** What the books say about the forwarders of a merchant. */
import { statusOf } from 'crypto-checkout/contract';
import { forwarderSources } from '../addresses/owners.js';
import { sumUnits } from '../db/units.js';
import { inChunks } from '../db/chunks.js';
import type { Reader } from '../db/engine.js';
import type { Network } from '../chains/networks.js';
import type { Scope } from '../shared/scope.js';

/**
 * The forwarders of a merchant on which money of this network should lie by the books: more was received than was swept.
 * With `everything`, all that were given out, on any network: coins can be sent on the wrong one.
 */
export async function readPaidForwarders(
  reader: Reader,
  scope: Scope,
  network: Pick<Network, 'code'>,
  everything: boolean,
) {
  const addresses = everything
    ? await allForwarders(reader, scope)
    : await filledForwarders(reader, scope, network);
  const rows = await inChunks(addresses, (chunk) =>
    reader
      .selectFrom('addresses')
      .leftJoin('payments', 'payments.id', 'addresses.payment_id')
      .select([
        'addresses.address',
        'addresses.derivation_index as index',
        'addresses.source_id as sourceId',
        'payments.state',
        'payments.address as current',
      ])
      .where('addresses.mode', '=', scope.mode)
      .where('addresses.address', 'in', chunk)
      .where('addresses.source_id', 'like', forwarderSources)
      .execute(),
  );
  return rows.map(({ address, index, sourceId, state, current }) => ({
    address,
    index,
    sourceId,
    /** Whether its payment can still get money: then nothing is deployed there yet, so that every wallet can pay it. */
    isOpen: current === address && state !== null && statusOf(state) === 'in progress',
  }));
}

/** Which of these transactions the books have as sweeps of a merchant. */
export async function readBookedSweeps(
  reader: Reader,
  { merchantId, mode }: Scope,
  txHashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await inChunks(txHashes, (chunk) =>
    reader
      .selectFrom('sweeps')
      .select('tx_hash')
      .where((e) => e.and({ merchant_id: merchantId, mode, is_reversed: 0 }))
      .where('tx_hash', 'in', chunk)
      .execute(),
  );
  return new Set(rows.map((row) => row.tx_hash));
}

async function filledForwarders(
  reader: Reader,
  { merchantId, mode }: Scope,
  { code }: Pick<Network, 'code'>,
): Promise<string[]> {
  const received = await reader
    .selectFrom('receipts')
    .where((e) => e.and({ merchant_id: merchantId, mode, network: code }))
    .where('status', 'in', ['seen', 'confirmed'])
    .groupBy(['address', 'currency'])
    .select(['address', 'currency', sumUnits(reader, 'amount').as('units')])
    .execute();
  const swept = await reader
    .selectFrom('sweeps')
    .where((e) => e.and({ merchant_id: merchantId, mode, network: code, is_reversed: 0 }))
    .groupBy(['address', 'currency'])
    .select(['address', 'currency', sumUnits(reader, 'amount').as('units')])
    .execute();
  const left = new Map(
    swept.map(({ address, currency, units }) => [`${address}/${currency}`, BigInt(units)]),
  );
  return [
    ...new Set(
      received
        .filter(({ address, currency, units }) => BigInt(units) > (left.get(`${address}/${currency}`) ?? 0n))
        .map(({ address }) => address),
    ),
  ];
}

async function allForwarders(reader: Reader, { merchantId, mode }: Scope): Promise<string[]> {
  const ofPayments = await reader
    .selectFrom('addresses')
    .innerJoin('payments', 'payments.id', 'addresses.payment_id')
    .where((e) => e.and({ 'payments.merchant_id': merchantId, 'payments.mode': mode }))
    .where('addresses.source_id', 'like', forwarderSources)
    .select('addresses.address')
    .execute();
  const ofWallets = await reader
    .selectFrom('addresses')
    .innerJoin('wallets', 'wallets.id', 'addresses.wallet_id')
    .where((e) => e.and({ 'wallets.merchant_id': merchantId, 'wallets.mode': mode }))
    .where('addresses.source_id', 'like', forwarderSources)
    .select('addresses.address')
    .execute();
  return [...ofPayments, ...ofWallets].map(({ address }) => address);
}
