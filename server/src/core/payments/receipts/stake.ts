/**
 * Judges due receipts by everything that is at stake with them, not one by one: a sum is as easily split as sent. A
 * reorganisation that undoes a receipt undoes its whole transaction, whatever addresses that paid, and everything
 * that its address received within the time in which it could be undone.
 */
import type { NetworkRef } from '../../chains/chain.js';
import { blocksOfDay, type Depth, type Network } from '../../chains/networks.js';
import { chunksOf, inChunks } from '../../db/chunks.js';
import type { Reader } from '../../db/engine.js';
import { filtersBy } from '../../db/plans.js';
import { prepared } from '../../db/prepared.js';
import { tables, type ReceiptRow, type Schema } from '../../db/schema.js';
import { valuesOf } from '../../db/values.js';
import type { ScanBatch } from '../../scanning/scan.js';
import { groupBy } from '../../shared/group-by.js';
import { deeper, mostConfirmations, type Stake } from '../depth.js';
import type { PaymentsDeps } from '../payments-deps.js';
import { isDeep } from './work.js';

/** More receipts than this at one address are not counted: they are at least as much as every limit. */
const mostCounted = 1000;
/** The number of addresses in one query. */
const atOnce = 20;

type Place = NetworkRef & Pick<ScanBatch, 'head' | 'finalHeight'>;

export interface Judged {
  readonly receipt: ReceiptRow;
  /** The depth needed for all that is at stake: never less than for the receipt itself. */
  readonly required: Depth;
  /** True if the depth is only a guess because a rate is unknown now. */
  readonly isGuessed: boolean;
  /** True if it counts only when two nodes have confirmed it. */
  readonly needsCheck: boolean;
}

/** True if the receipts of a network are judged by others, too, which are read where they are stored. */
export function readsStakes(currencies: PaymentsDeps['currencies'], place: NetworkRef): boolean {
  const network = currencies.network(place.mode, place.network);
  return network?.depths !== undefined || network?.crossCheckAbove !== undefined;
}

export function createJudge({ currencies, depths }: Pick<PaymentsDeps, 'currencies' | 'depths'>) {
  /**
   * Judges by the current configuration and rates. A payment has one address on a network, and so has a wallet.
   * @param receipts in blocks that are deep enough for each receipt on its own
   */
  return async (reader: Reader, place: Place, receipts: readonly ReceiptRow[]): Promise<Judged[]> => {
    const network = currencies.network(place.mode, place.network);
    if (receipts.length === 0) return [];
    if (!network || !readsStakes(currencies, place)) {
      return receipts.map((receipt) => ({
        receipt,
        required: receipt.required_confirmations,
        isGuessed: false,
        needsCheck: false,
      }));
    }
    const ofTransactions = await stakesOfTransactions(reader, place, receipts);
    const ofAddresses = await stakesOfAddresses(reader, place, network, receipts);
    return receipts.map((receipt) => {
      const transaction = ofTransactions.get(receipt.tx_hash) ?? [];
      const { undoable, ofDay } = ofAddresses.get(receipt.address) ?? { undoable: [], ofDay: [] };
      const depth = deeper(depths.depthOf(network, transaction), depths.depthOf(network, undoable));
      const known = depths.isDepthKnown(network, transaction) && depths.isDepthKnown(network, undoable);
      const required = deeper(depth, receipt.required_confirmations);
      return {
        receipt,
        required,
        isGuessed: !known && required !== receipt.required_confirmations,
        needsCheck: [transaction, ofDay].some((stake) => depths.isCrossChecked(network, stake)),
      };
    });
  };
}

async function stakesOfTransactions(
  reader: Reader,
  { mode, network }: NetworkRef,
  receipts: readonly ReceiptRow[],
): Promise<ReadonlyMap<string, Stake>> {
  const hashes = [...new Set(receipts.map((receipt) => receipt.tx_hash))];
  const rows = await inChunks(hashes, (chunk) =>
    reader
      .selectFrom('receipts')
      .select(['tx_hash', 'currency', 'amount'])
      .where((e) => e.and({ mode, network }))
      .where('tx_hash', 'in', chunk)
      .where('status', 'in', ['seen', 'confirmed'])
      .execute(),
  );
  return new Map([...groupBy(rows, (row) => row.tx_hash)].map(([hash, list]) => [hash, stakeOf(list)]));
}

interface StakesOfAddress {
  /** The stake that a reorganisation could undo. */
  readonly undoable: Stake;
  /** The stake that a dishonest node could have invented since each balance was last compared with the nodes'. */
  readonly ofDay: Stake;
}

async function stakesOfAddresses(
  reader: Reader,
  { mode, network: code, head, finalHeight = -1 }: Place,
  network: Network,
  receipts: readonly ReceiptRow[],
): Promise<ReadonlyMap<string, StakesOfAddress>> {
  const addresses = [...new Set(receipts.map(({ address }) => address))];
  const deepest = head.height - mostConfirmations(network);
  const day = Math.min(deepest, head.height - blocksOfDay(network));
  const sumsAbove = async (address: string, above: number): Promise<Stake> => {
    const rows = await findRecent(reader, { mode, network: code, address, above });
    return rows.length > mostCounted ? 'countless' : stakeOf(rows);
  };
  const stakesOf = async (address: string) => {
    const undoable = await sumsAbove(address, Math.max(deepest, finalHeight));
    const ofDay = network.crossCheckAbove ? await sumsAbove(address, day) : undoable;
    return [address, { undoable, ofDay }] as const;
  };
  const found = new Map<string, StakesOfAddress>();
  for (const chunk of chunksOf(addresses, atOnce)) {
    for (const [address, stakes] of await Promise.all(chunk.map(stakesOf))) found.set(address, stakes);
  }
  return found;
}

interface Recent extends NetworkRef {
  readonly address: string;
  readonly above: number;
}

/** Receipts of an address that do not count yet, however old, and counted ones above a block. */
const findRecent = prepared((reader, { mode, network, address, above }: Recent) => {
  const at = reader
    .selectFrom('receipts')
    .select(['currency', 'amount'])
    .where('address', '=', address)
    .where(filtersBy(reader, { mode, network }));
  return at
    .where('status', '=', 'seen')
    .where('block_height', '>=', 0)
    .unionAll(at.where('status', '=', 'confirmed').where('block_height', '>', above))
    .limit(mostCounted + 1);
});

const receiptRows = valuesOf(tables.receipts);

/** The sums of receipts; more than every limit if one of them cannot be read. */
function stakeOf(rows: readonly Pick<Schema['receipts'], 'currency' | 'amount'>[]): Stake {
  const sums = new Map<string, bigint>();
  const errors: unknown[] = [];
  const readable = receiptRows.decodeEach(rows, (_, error) => errors.push(error));
  for (const { currency, amount } of readable) sums.set(currency, (sums.get(currency) ?? 0n) + amount);
  return errors.length === 0 ? [...sums].map(([currency, units]) => ({ currency, units })) : 'countless';
}

/** True if a receipt is deep enough for all that is at stake. */
export function isReadyNow(place: Place, { receipt, required }: Judged): boolean {
  const { block_height: height } = receipt;
  return height !== null && isDeep(place, { required_confirmations: required }, height);
}

/** The columns to store of due receipts, and the receipts that must not be confirmed now anyway. */
export function takeVerdicts(place: Place, judged: readonly Judged[]) {
  const changed: ReceiptRow[] = [];
  /** Ids of receipts that must not be confirmed now. */
  const held = new Set<string>();
  for (const one of judged) {
    const { receipt, required, isGuessed, needsCheck } = one;
    const isReady = isReadyNow(place, one);
    const awaits = isReady && needsCheck && receipt.checked_hash !== receipt.block_hash;
    if (!isReady || awaits) held.add(receipt.id);
    changed.push({
      ...receipt,
      awaits_check: awaits,
      // A receipt that is deeper only for want of a rate is judged again at the next scan.
      required_confirmations: isGuessed ? receipt.required_confirmations : required,
    });
  }
  return { changed, held };
}
