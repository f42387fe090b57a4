/** The books' entries about forwarders. */
import { statusOf } from 'crypto-checkout/contract';
import type { DepositKeyRecord } from '../../core/addresses/deposit-keys.js';
import { forwarderSources } from '../../core/addresses/owners.js';
import { chunksOf, inChunks } from '../../core/db/chunks.js';
import type { Reader } from '../../core/db/engine.js';
import { everyPage } from '../../core/db/pages.js';
import type { Network } from '../../core/chains/networks.js';
import type { Mode, Scope } from '../../core/shared/scope.js';
import { readUnswept } from './unswept.js';

export type Forwarder = ReturnType<typeof viewForwarders>[number];

/** Forwarders of one page. */
const atOnce = 500;

/**
 * The forwarders of treasuries that should have money of this network by the books, because more was received than was swept; page by
 * page, in no order.
 * @param everything all that were given out, on any network: coins can be sent on the wrong one
 */
export async function* readForwarders(
  reader: Reader,
  treasuries: readonly Pick<DepositKeyRecord, 'sourceId' | 'merchantId'>[],
  network: Pick<Network, 'mode' | 'code'>,
  everything: boolean,
): AsyncGenerator<Forwarder[]> {
  if (everything) {
    const sources = [...new Set(treasuries.map(({ sourceId }) => sourceId))];
    if (sources.length === 0) return;
    const pages = everyPage(atOnce, (after: { readonly sequence: number } | undefined) =>
      forwarders(reader, network.mode)
        .where('addresses.source_id', 'in', sources)
        .where('addresses.sequence', '>', after?.sequence ?? 0)
        .orderBy('addresses.sequence')
        .limit(atOnce)
        .execute(),
    );
    for await (const page of pages) yield viewForwarders(page);
    return;
  }
  const merchants = [...new Set(treasuries.map(({ merchantId }) => merchantId))];
  const unswept = await readUnswept(reader, { mode: network.mode, network: network.code }, merchants);
  for (const chunk of chunksOf(unswept, atOnce)) {
    yield viewForwarders(
      await forwarders(reader, network.mode).where('addresses.address', 'in', chunk).execute(),
    );
  }
}

const forwarders = (reader: Reader, mode: Mode) =>
  reader
    .selectFrom('addresses')
    .leftJoin('payments', 'payments.id', 'addresses.payment_id')
    .select([
      'addresses.sequence',
      'addresses.address',
      'addresses.derivation_index as index',
      'addresses.source_id as sourceId',
      'payments.state',
      'payments.address as current',
    ])
    .where('addresses.mode', '=', mode)
    .where('addresses.source_id', 'like', forwarderSources);

const viewForwarders = (rows: Awaited<ReturnType<ReturnType<typeof forwarders>['execute']>>) =>
  rows.map(({ state, current, sequence: _sequence, ...row }) => ({
    ...row,
    /** True if its payment can still get money: then nothing is deployed there yet, so that every wallet can pay it. */
    isOpen: current === row.address && state !== null && statusOf(state) === 'in progress',
  }));

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
