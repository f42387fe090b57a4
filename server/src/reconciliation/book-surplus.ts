/** Turns a surplus into a receipt: that of a transfer if the blocks have one, otherwise one that names the block range. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { Transaction } from '../db/engine.js';
import type { BalanceDifferenceTable } from '../db/schema.js';
import { amountsOf, type ChainAsset } from '../chains/assets.js';
import type { ChainBlock, NetworkRef } from '../chains/chain.js';
import { applyOldBlocks, lockCursor, rescan } from '../scanning/rescan.js';
import { readBooked, sweptBlocks } from './books.js';
import { locate, type Surplus } from './locate.js';
import type { ReconcileDeps, Reconciled } from './reconcile-deps.js';

/** So many blocks are read again for the transfer itself: a node may have left it out. */
const mostRead = 50;

/** @returns whether nothing of it is left */
export async function bookSurplus(
  deps: ReconcileDeps,
  network: Reconciled,
  asset: ChainAsset,
  row: BalanceDifferenceTable,
  agreed: bigint,
  signal: AbortSignal,
): Promise<boolean> {
  const { database, sink, log } = deps;
  const { balances, chain } = network;
  const ref = { mode: network.network.mode, network: network.network.code };
  const place = { address: row.address, currency: row.currency };
  const first = await balances.blockAt(row.height, signal);
  // The block of the first look is gone: what it showed may be gone with it.
  if (first?.hash !== row.hash) return false;
  // A sweep whose block is gone moved nothing: until its posting is taken back, its amount would pass for new money.
  for (const swept of await sweptBlocks(database.reader, ref, place, row.height)) {
    if ((await balances.blockAt(swept.height, signal))?.hash !== swept.hash) return false;
  }
  const found = await locate(
    database.reader,
    ref,
    balances,
    {
      asked: { address: row.address, asset },
      ...{ place, amount: agreed, spent: BigInt(row.spent), above: row.above, upTo: row.height },
    },
    signal,
  );
  if (found.upTo - found.above <= mostRead) {
    await rescan({ database, chain, sink, from: found.above + 1, to: found.upTo, signal });
    const { received, left } = (await readBooked(database.reader, ref, [row.address], row.height)).at(place);
    // A transfer explains it, or a part of it: the rest shows at the next look.
    const rest = BigInt(row.balance) + left + BigInt(row.spent) - received;
    if (rest < agreed) return rest <= 0n;
  }
  const block = found.upTo === row.height ? first : await balances.blockAt(found.upTo, signal);
  if (!block) return false;
  const isAdded = await database.write((transaction) =>
    addReceipt(transaction, deps, ref, asset, row, found, block),
  );
  if (!isAdded) return false;
  const { above, upTo } = found;
  log.warn(
    { ...ref, ...place, amount: found.amount.toString(), above, upTo },
    'Coins that no block showed were found by the balance of their address, and are credited',
  );
  return found.amount === agreed;
}

async function addReceipt(
  transaction: Transaction,
  { sink }: ReconcileDeps,
  ref: NetworkRef,
  asset: ChainAsset,
  row: BalanceDifferenceTable,
  { place, amount, spent, above, upTo }: Surplus,
  { hash, parentHash, time }: Pick<ChainBlock, 'hash' | 'parentHash' | 'time'>,
): Promise<boolean> {
  const { currency } = asset;
  const { address } = place;
  // The lock of the cursor lets one server add it. Another that was as fast sees the receipt now.
  await lockCursor(transaction, ref);
  const { received, left } = (await readBooked(transaction, ref, [address], row.height)).at(place);
  if (BigInt(row.balance) + left + spent - received < amount) return false;
  const transfer = {
    ...{ txHash: hash, outputIndex: await freeIndex(transaction, ref, hash, address, amount) },
    ...{ currency, senders: [], address, ...amountsOf(asset, amount), foundAbove: above },
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
