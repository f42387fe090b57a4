/** The coins that the books know, read in parts: confirmed deposits, and the change of settled PSBTs. */
import { unspentIn, unspentPages, type UnspentCoin } from '../../core/addresses/unspent-coins.js';
import { inChunks } from '../../core/db/chunks.js';
import type { Reader } from '../../core/db/engine.js';
import { filtersBy } from '../../core/db/plans.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import type { Outpoint } from '../networks/bitcoin/utxo-node.js';
import type { SpentCoin } from './build.js';
import { nameOf, nameOfRow, outpointOf } from './outpoints.js';
import type { Holder } from './psbt-store.js';

/** The coins on the addresses of one key that no PSBT holds, largest first. */
export async function* knownCoins(reader: Reader, of: Holder, sourceId: string): AsyncGenerator<SpentCoin[]> {
  for await (const coins of unspentCoins(reader, of, sourceId)) yield withoutHeld(reader, placeOf(of), coins);
}

/** The same of those that are among these outputs. */
export async function knownAmong(
  reader: Reader,
  of: Holder,
  sourceId: string,
  outpoints: readonly Outpoint[],
): Promise<SpentCoin[]> {
  const names = new Set(outpoints.map(nameOf));
  const marks = await unspentIn(reader, { ...marksOf(of), sourceId }, hashesOf(outpoints));
  const coins = await inBooks(
    reader,
    of,
    marks.filter((mark) => names.has(nameOfRow(mark))),
  );
  return withoutHeld(reader, placeOf(of), coins);
}

/** The coins on the merchant's addresses that are in no PSBT of any state, as `hash:index`. */
export async function* untouchedCoins(reader: Reader, of: Holder): AsyncGenerator<string[]> {
  for await (const coins of unspentCoins(reader, of)) {
    const touched = await outpointsAmong(reader, placeOf(of), coins, {});
    yield coins.map(nameOf).filter((coin) => !touched.has(coin));
  }
}

/** The coins on the merchant's addresses, as the books know them, that no confirmed PSBT has spent. @param sourceId of one key; undefined for all */
export async function* unspentCoins(
  reader: Reader,
  of: Holder,
  sourceId?: string,
): AsyncGenerator<SpentCoin[]> {
  for await (const marks of unspentPages(reader, { ...marksOf(of), sourceId })) {
    yield await inBooks(reader, of, marks);
  }
}

/** The coins among these that PSBTs hold, as `hash:index`. */
export const heldAmong = (reader: Reader, at: NetworkRef, coins: readonly Outpoint[]) =>
  outpointsAmong(reader, at, coins, { is_held: 1 });

async function withoutHeld(
  reader: Reader,
  at: NetworkRef,
  coins: readonly SpentCoin[],
): Promise<SpentCoin[]> {
  const taken = await heldAmong(reader, at, coins);
  return coins.filter((coin) => !taken.has(nameOf(coin)));
}

/** A mark may be there for nothing: its receipt can be lost, or its PSBT. */
async function inBooks(
  reader: Reader,
  { scope: { mode }, network, currency }: Holder,
  marks: readonly UnspentCoin[],
): Promise<SpentCoin[]> {
  const hashes = [...new Set(marks.map(({ tx_hash: hash }) => hash))];
  const deposits = await inChunks(hashes, (chunk) =>
    reader
      .selectFrom('receipts')
      .select(['tx_hash', 'output_index'])
      .where((e) => e.and({ mode, network }))
      .where('tx_hash', 'in', chunk)
      .where(filtersBy(reader, { status: 'confirmed', currency }))
      .execute(),
  );
  const changes = await inChunks(hashes, (chunk) =>
    reader
      .selectFrom('psbt_versions')
      .innerJoin('psbts', (join) =>
        join
          .onRef('psbts.id', '=', 'psbt_versions.psbt_id')
          .onRef('psbts.settled_version', '=', 'psbt_versions.number'),
      )
      .select('psbt_versions.tx_hash')
      .where('psbt_versions.tx_hash', 'in', chunk)
      .where(filtersBy(reader, { 'psbts.state': 'settled' }))
      .execute(),
  );
  const received = new Set(deposits.map(nameOfRow));
  const settled = new Set(changes.map(({ tx_hash: hash }) => hash));
  return marks
    .filter((mark) => (mark.branch === 0 ? received.has(nameOfRow(mark)) : settled.has(mark.tx_hash)))
    .map(({ amount: satoshis, ...mark }) => ({
      ...outpointOf(mark),
      amount: BigInt(satoshis),
      branch: mark.branch,
      index: mark.derivation_index,
    }));
}

async function outpointsAmong(
  reader: Reader,
  { mode, network }: NetworkRef,
  coins: readonly Outpoint[],
  which: { readonly is_held?: 1 },
): Promise<ReadonlySet<string>> {
  const rows = await inChunks(hashesOf(coins), (chunk) =>
    reader
      .selectFrom('psbt_inputs')
      .select(['tx_hash', 'output_index'])
      .where('tx_hash', 'in', chunk)
      .where(filtersBy(reader, { mode, network, ...which }))
      .execute(),
  );
  const asked = new Set(coins.map(nameOf));
  return new Set(rows.map(nameOfRow).filter((name) => asked.has(name)));
}

const hashesOf = (coins: readonly Outpoint[]) => [...new Set(coins.map(({ txHash }) => txHash))];
const placeOf = ({ scope: { mode }, network }: Holder): NetworkRef => ({ mode, network });
const marksOf = ({ scope: { mode, merchantId }, network }: Holder) => ({ mode, network, merchantId });
