/** Turns a surplus into a receipt: that of a transfer if the blocks have one, otherwise one that names the block range. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { BalanceDifferenceRow } from './tables.js';
import { amountsOf, type ChainAsset } from '../../core/chains/assets.js';
import type { ChainBlock, NetworkRef } from '../../core/chains/chain.js';
import { lockCursor } from '../../core/scanning/cursors.js';
import { applyOldBlocks, rescan } from '../../core/scanning/rescan.js';
import { readBooked, sweepParts } from '../networks/booked.js';
import { refOf, type Pass } from './reconcile-deps.js';

/** So many blocks are read again for the transfer itself: a node may have left it out. */
const mostRead = 50;

/** A surplus: it was not there after the block `above`, as far as is known, and was there after `upTo`. */
interface Surplus {
  /** In units of the chain. */
  readonly amount: bigint;
  readonly above: number;
  readonly upTo: number;
}

/** @returns true if nothing of it is left */
export async function bookSurplus(
  pass: Pass,
  asset: ChainAsset,
  row: BalanceDifferenceRow,
  agreed: bigint,
): Promise<boolean> {
  const { deps, network, signal } = pass;
  const { database, sink, log } = deps;
  const { balances, chain } = network;
  const ref = refOf(network);
  const { address, currency } = row;
  const first = await balances.blockAt(row.height, signal);
  // The block of the first look is gone: what it showed may be gone with it.
  if (first?.hash !== row.hash) return false;
  // A sweep whose block is gone moved nothing: until its posting is reverted, its amount would pass for new money.
  for (const { blocks } of sweepParts(database.reader)) {
    for (const swept of await blocks(database.reader, ref, row, row.height))
      if ((await balances.blockAt(swept.height, signal))?.hash !== swept.hash) return false;
  }
  const found = await locate(pass, asset, row, agreed);
  const { amount, above, upTo } = found;
  if (upTo - above <= mostRead) {
    await rescan({ database, chain, sink, from: above + 1, to: upTo, signal });
    // A transfer explains it, or a part of it: the rest shows at the next look.
    const rest = await restOf(database.reader, ref, row);
    if (rest < agreed) return rest <= 0n;
  }
  const block = upTo === row.height ? first : await balances.blockAt(upTo, signal);
  if (!block) return false;
  const isAdded = await database.write((transaction) =>
    addReceipt(transaction, pass, asset, row, found, block),
  );
  if (!isAdded) return false;
  log.warn(
    { ...ref, address, currency, amount: amount.toString(), above, upTo },
    'Coins that no block showed were found by the balance of their address, and are credited',
  );
  return amount === agreed;
}

/** The difference between the balance of the first look and the books now. */
async function restOf(reader: Reader, ref: NetworkRef, row: BalanceDifferenceRow): Promise<bigint> {
  const booked = await readBooked(reader, ref, [row.address], row.height);
  return booked.difference(row, row.balance, row.spent);
}

async function addReceipt(
  transaction: Transaction,
  { deps: { sink }, network }: Pass,
  asset: ChainAsset,
  row: BalanceDifferenceRow,
  { amount, above, upTo }: Surplus,
  { hash, parentHash, time }: Pick<ChainBlock, 'hash' | 'parentHash' | 'time'>,
): Promise<boolean> {
  const ref = refOf(network);
  const { address, currency } = row;
  // The lock of the cursor lets one server add it. Another that was as fast sees the receipt now.
  await lockCursor(transaction, ref);
  if ((await restOf(transaction, ref, row)) < amount) return false;
  const transfer = {
    txHash: hash,
    outputIndex: await freeIndex(transaction, ref, hash, address, amount),
    currency,
    senders: [],
    address,
    ...amountsOf(asset, amount),
    foundAbove: above,
  };
  await applyOldBlocks(transaction, ref, sink, [
    { height: upTo, hash, parentHash, time, transfers: [transfer] },
  ]);
  return true;
}

/**
 * -1 - n, with 30 bits of the address's hash as n. A receipt that was lost with its block and is found again is the same one;
 * another at the same address and block gets the next number.
 */
async function freeIndex(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  hash: string,
  address: string,
  amount: bigint,
): Promise<number> {
  const rows = await transaction
    .selectFrom('receipts')
    .select(['output_index', 'address', 'chain_amount', 'status'])
    .where((e) => e.and({ mode, network, tx_hash: hash }))
    .where('output_index', '<', 0)
    .execute();
  const taken = new Map(rows.map((row) => [row.output_index, row]));
  const [a = 0, b = 0, c = 0, d = 0] = keccak_256(utf8ToBytes(address));
  for (let index = -1 - (((a & 63) << 24) | (b << 16) | (c << 8) | d); ; index -= 1) {
    const row = taken.get(index);
    const isLost = row?.status === 'dropped' || row?.status === 'reversed';
    if (!row || (isLost && row.address === address && row.chain_amount === amount.toString())) return index;
  }
}

/**
 * Finds the block in which a surplus came, as far as nodes keep old balances.
 * @returns the whole surplus, or the part of it that came last, in as few blocks as could be found
 */
async function locate(
  { deps: { database }, network, signal }: Pass,
  asset: ChainAsset,
  row: BalanceDifferenceRow,
  agreed: bigint,
): Promise<Surplus> {
  const { address } = row;

  async function surplusAt(height: number): Promise<bigint | undefined> {
    const reading = await network.balances.readOld([{ address, asset }], height, undefined, signal);
    const [balance] = reading?.amounts ?? [];
    if (balance === undefined) return undefined;
    const booked = await readBooked(database.reader, refOf(network), [address], height);
    return booked.difference(row, balance, row.spent);
  }

  let { above, height: upTo } = row;
  /** The surplus after `above`. */
  let before = 0n;
  // Backwards in growing steps, since it is new in most cases, and then by halves.
  for (let step = 1, isFound = false; upTo - above > 1;) {
    const height = isFound ? above + Math.floor((upTo - above) / 2) : Math.max(above + 1, upTo - step);
    const found = await surplusAt(height);
    if (found === undefined) break;
    if (found >= agreed) upTo = height;
    else {
      above = height;
      before = found > 0n ? found : 0n;
      isFound = true;
    }
    step *= 2;
  }
  return { above, upTo, amount: agreed - before };
}
