/**
 * Compares the books with the chain at one height, network by network: what forwarders hold, which nobody but a sweep can move,
 * must be what the books say to the unit. A treasury is the merchant's own wallet: it may hold more, but not less.
 */
import type { DepositKeys } from '../addresses/deposit-keys.js';
import { fromChain } from '../chains/assets.js';
import { inChunks } from '../db/chunks.js';
import type { Reader } from '../db/engine.js';
import { sumUnits } from '../db/units.js';
import type { Scope } from '../shared/scope.js';
import type { EvmConnected } from './forwarder-checks.js';
import { readPaidForwarders } from './sweep-store.js';
import { readCursor } from './watch-store.js';

export interface PlaceBalance {
  readonly currency: string;
  /** The merchant of forwarders; undefined for all treasuries of the network together. */
  readonly merchantId: string | undefined;
  /** In units of the currency, at the height. */
  readonly books: bigint;
  readonly chain: bigint;
  /** How far the chain may differ, where it counts more decimals than the books. */
  readonly tolerance: bigint;
}

export interface ChainBalances {
  readonly height: number;
  readonly places: readonly PlaceBalance[];
}

export interface ChainBalanceDeps {
  readonly reader: Reader;
  readonly depositKeys: Pick<DepositKeys, 'list'>;
}

/**
 * @returns undefined if no merchant has a treasury on the network, or its sweeps were never read
 * @throws NodesUnavailable, also if the node has dropped the state of the height
 */
export async function compareWithChain(
  { reader, depositKeys }: ChainBalanceDeps,
  network: EvmConnected,
  signal: AbortSignal,
): Promise<ChainBalances | undefined> {
  const { mode, code } = network.network;
  const height = await readCursor(reader, { mode, network: code });
  const keys = (await depositKeys.list(reader)).filter(
    (key) => key.mode === mode && key.treasury !== undefined,
  );
  if (height === undefined || keys.length === 0) return undefined;
  const treasuries = [...new Set(keys.flatMap(({ treasury }) => treasury ?? []))];
  const merchants = [...new Set(keys.map(({ merchantId }) => merchantId))];
  const forwarders = new Map<string, string[]>();
  for (const merchantId of merchants) {
    const found = await readPaidForwarders(reader, { merchantId, mode }, network.network, true);
    forwarders.set(
      merchantId,
      found.map(({ address }) => address),
    );
  }
  const places: PlaceBalance[] = [];
  for (const asset of Object.values(network.chainAssets)) {
    const { currency, contract, decimals, unitDecimals = decimals } = asset;
    const read = async (addresses: readonly string[]) =>
      fromChain(
        asset,
        sum(await network.evm.run((node) => node.balances(contract, addresses, height), signal)),
      );
    for (const [merchantId, addresses] of forwarders) {
      const at = { scope: { merchantId, mode }, network: code, currency, height, addresses };
      const { units, count } = await receivedAt(reader, at);
      places.push({
        ...{ currency, merchantId },
        books: units - (await sweptAt(reader, at)),
        chain: await read(addresses),
        // Of each receipt, what is too small for the books was cut off.
        tolerance: decimals > unitDecimals ? BigInt(count) : 0n,
      });
    }
    places.push({
      ...{ currency, merchantId: undefined, tolerance: 0n },
      books: await inTreasuries(reader, mode, code, currency),
      chain: await read(treasuries),
    });
  }
  return { height, places };
}

interface At {
  readonly scope: Scope;
  readonly network: string;
  readonly currency: string;
  readonly height: number;
  readonly addresses: readonly string[];
}

async function receivedAt(
  reader: Reader,
  { scope, network, currency, height, addresses }: At,
): Promise<{ units: bigint; count: number }> {
  const rows = await inChunks(addresses, (chunk) =>
    reader
      .selectFrom('receipts')
      .select('amount')
      .where((e) => e.and({ merchant_id: scope.merchantId, mode: scope.mode, network, currency }))
      .where('status', 'in', ['seen', 'confirmed'])
      .where('block_height', '<=', height)
      .where('address', 'in', chunk)
      .execute(),
  );
  return { units: sum(rows.map(({ amount }) => BigInt(amount))), count: rows.length };
}

async function sweptAt(reader: Reader, { scope, network, currency, height }: At): Promise<bigint> {
  const row = await reader
    .selectFrom('sweeps')
    .select(sumUnits(reader, 'amount').as('units'))
    .where((e) =>
      e.and({ merchant_id: scope.merchantId, mode: scope.mode, network, currency, is_reversed: 0 }),
    )
    .where('block_height', '<=', height)
    .executeTakeFirstOrThrow();
  return BigInt(row.units);
}

async function inTreasuries(
  reader: Reader,
  mode: Scope['mode'],
  network: string,
  currency: string,
): Promise<bigint> {
  const rows = await reader
    .selectFrom('ledger_accounts')
    .select('balance')
    .where((e) => e.and({ kind: 'custody', mode, network, currency }))
    .where('id', 'like', '%/treasury')
    .execute();
  return sum(rows.map(({ balance }) => BigInt(balance)));
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
