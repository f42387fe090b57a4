/** The books' entries about forwarders. */
import { statusOf } from 'crypto-checkout/contract';
import type { DepositKeyRecord } from '../addresses/deposit-keys.js';
import { forwarderSources } from '../addresses/owners.js';
import { readUnswept } from '../addresses/unswept.js';
import { inChunks } from '../db/chunks.js';
import type { Reader } from '../db/engine.js';
import type { Network } from '../chains/networks.js';
import type { Scope } from '../shared/scope.js';

/**
 * The forwarders of treasuries that should have money of this network by the books: more was received than was swept.
 * @param everything all that were given out, on any network: coins can be sent on the wrong one
 */
export async function readForwarders(
  reader: Reader,
  treasuries: readonly Pick<DepositKeyRecord, 'sourceId' | 'merchantId'>[],
  network: Pick<Network, 'mode' | 'code'>,
  everything: boolean,
) {
  const forwarders = reader
    .selectFrom('addresses')
    .leftJoin('payments', 'payments.id', 'addresses.payment_id')
    .select([
      'addresses.address',
      'addresses.derivation_index as index',
      'addresses.source_id as sourceId',
      'payments.state',
      'payments.address as current',
    ])
    .where('addresses.mode', '=', network.mode)
    .where('addresses.source_id', 'like', forwarderSources)
    .orderBy('addresses.source_id')
    .orderBy('addresses.derivation_index');
  const sources = [...new Set(treasuries.map(({ sourceId }) => sourceId))];
  const merchants = [...new Set(treasuries.map(({ merchantId }) => merchantId))];
  const rows = everything
    ? await inChunks(sources, (chunk) => forwarders.where('addresses.source_id', 'in', chunk).execute())
    : await inChunks(
        await readUnswept(reader, { mode: network.mode, network: network.code }, merchants),
        (chunk) => forwarders.where('addresses.address', 'in', chunk).execute(),
      );
  return rows.map(({ state, current, ...row }) => ({
    ...row,
    /** True if its payment can still get money: then nothing is deployed there yet, so that every wallet can pay it. */
    isOpen: current === row.address && state !== null && statusOf(state) === 'in progress',
  }));
}

/** The transactions among these that the books have as sweeps of a merchant. */
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
