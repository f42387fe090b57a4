/**
 * Compares the books with the chain at one height, network by network: what forwarders hold, which nobody but a sweep can move,
 * must be what the books say to the unit. A treasury is the merchant's own wallet: it may hold more, but not less.
 */
import { fromChain } from '../../core/chains/assets.js';
import { readBooked, sizeOf } from '../networks/booked.js';
import type { Reader } from '../../core/db/engine.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import { placeOf, type EvmConnected, type TreasuryContext } from './context.js';
import { listTreasuries } from './owners.js';
import { readForwarders } from './sweep-store.js';
import { readCursor } from './watch-store.js';
import { tables } from '../../core/db/schema.js';
import { valuesOf } from '../../core/db/values.js';

const accounts = valuesOf(tables.ledger_accounts);

export type ChainBalances = NonNullable<Awaited<ReturnType<typeof compareWithChain>>>;

/**
 * @returns undefined if no merchant has a treasury on the network, or its sweeps were never read
 * @throws NodesUnavailable, also if the node has dropped the state of the height
 */
export async function compareWithChain(deps: TreasuryContext, network: EvmConnected, signal: AbortSignal) {
  const { reader } = deps.database;
  const place = placeOf(network);
  const height = await readCursor(reader, place);
  const keys = await listTreasuries(deps, reader, place.mode);
  if (height === undefined || keys.length === 0) return undefined;
  const treasuries = [...new Set(keys.map(({ treasury }) => treasury))];
  /** The forwarders whose balance is not what the books say. `units`: what they hold more, in units of the currency. */
  const differences = [];
  /** All treasuries of the network together, in units of the currency. */
  const ofTreasuries: { currency: string; books: bigint; chain: bigint }[] = [];
  const assets = Object.values(network.chainAssets);
  const read = ({ contract }: (typeof assets)[number], addresses: readonly string[]) =>
    network.evm.run((node) => node.balances(contract, addresses, height), signal);
  let checked = 0;
  for await (const page of readForwarders(reader, keys, network.network, true)) {
    const forwarders = page.map(({ address }) => address);
    checked += forwarders.length;
    const booked = await readBooked(reader, place, forwarders, height);
    for (const asset of assets) {
      const { currency } = asset;
      const balances = await read(asset, forwarders);
      for (const [index, address] of forwarders.entries()) {
        const difference = booked.difference({ address, currency }, balances[index] ?? 0n);
        const size = sizeOf(asset, difference, network.network.assets[currency]?.minAmount);
        if (size !== 'nothing')
          differences.push({ address, currency, size, units: fromChain(asset, difference) });
      }
    }
  }
  for (const asset of assets) {
    const { currency } = asset;
    const books = await inTreasuries(reader, place, currency);
    ofTreasuries.push({ currency, books, chain: fromChain(asset, sum(await read(asset, treasuries))) });
  }
  return { height, checked, differences, treasuries: ofTreasuries };
}

/** The sum that the books have in all treasuries of a network, in units. */
export async function inTreasuries(reader: Reader, { mode, network }: NetworkRef, currency: string) {
  const rows = await reader
    .selectFrom('ledger_accounts')
    .select('balance')
    .where((e) => e.and({ kind: 'custody', mode, network, currency }))
    .where('id', 'like', '%/treasury')
    .execute();
  return sum(rows.map((row) => accounts.decode(row).balance));
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
