/** What is kept of scans: where each network stands, who may scan it, and its last blocks. */
import type { Database, Reader, Transaction } from '../db/database.js';
import type { ChainCursorTable } from '../db/schema.js';
import type { ChainBlock, ChainHead } from './chain.js';

/** Who scans a network, until when (real time, epoch milliseconds). */
export interface Lease {
  readonly network: string;
  readonly holder: string;
  readonly until: number;
}

export function readCursor(reader: Reader, network: string): Promise<ChainCursorTable | undefined> {
  return reader.selectFrom('chain_cursors').selectAll().where('network', '=', network).executeTakeFirst();
}

/** Begins a network at a block. Changes nothing where it has a cursor already. */
export function createCursor(
  database: Database,
  lease: Lease,
  head: ChainHead,
  syncedAt: number,
): Promise<void> {
  const { network } = lease;
  return database.write(async (transaction) => {
    const { numInsertedOrUpdatedRows: inserted } = await transaction
      .insertInto('chain_cursors')
      .values({
        network,
        height: head.height,
        hash: head.hash,
        synced_at: syncedAt,
        lease_holder: lease.holder,
        lease_until: lease.until,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (inserted !== 1n) return;
    await transaction
      .insertInto('scanned_blocks')
      .values({ network, height: head.height, hash: head.hash })
      .execute();
  });
}

/**
 * Takes or renews a lease, and answers whether it is held.
 * @param now real time; a lease of another holder that ends before it may be taken
 * @param force takes it from another holder, whose next write then finds out
 */
export function takeLease(database: Database, lease: Lease, now: number, force: boolean): Promise<boolean> {
  const { network, holder, until } = lease;
  return database.write(async (transaction) => {
    const take = transaction
      .updateTable('chain_cursors')
      .set({ lease_holder: holder, lease_until: until })
      .where('network', '=', network);
    const free = take.where((e) =>
      e.or([e('lease_holder', 'is', null), e('lease_holder', '=', holder), e('lease_until', '<', now)]),
    );
    const { numUpdatedRows } = await (force ? take : free).executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  });
}

export function releaseLease(database: Database, network: string, holder: string): Promise<void> {
  return database.write(async (transaction) => {
    await transaction
      .updateTable('chain_cursors')
      .set({ lease_until: 0 })
      .where('network', '=', network)
      .where('lease_holder', '=', holder)
      .execute();
  });
}

/** Somebody else scans the network now; what was read must not be written. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * Moves a network's cursor and renews its lease.
 * @throws LeaseLost when another holder has taken the lease since, and may have moved the cursor
 */
export async function moveCursor(
  transaction: Transaction,
  { network, holder, until }: Lease,
  { height, hash }: ChainHead,
  syncedAt: number,
): Promise<void> {
  const { numUpdatedRows } = await transaction
    .updateTable('chain_cursors')
    .set({ height, hash, synced_at: syncedAt, lease_until: until })
    .where('network', '=', network)
    .where('lease_holder', '=', holder)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows !== 1n) throw new LeaseLost(`Another process scans ${network} now`);
}

/** The blocks that are kept, newest first. */
export function readScannedBlocks(reader: Reader, network: string): Promise<ChainHead[]> {
  return reader
    .selectFrom('scanned_blocks')
    .select(['height', 'hash'])
    .where('network', '=', network)
    .orderBy('height', 'desc')
    .execute();
}

/** Adds new blocks in place of orphaned ones, and forgets those at or below a height. */
export async function writeScannedBlocks(
  transaction: Transaction,
  network: string,
  orphanedAbove: number | undefined,
  blocks: readonly ChainBlock[],
  forgetUpTo: number,
): Promise<void> {
  const ofNetwork = transaction.deleteFrom('scanned_blocks').where('network', '=', network);
  if (orphanedAbove !== undefined) await ofNetwork.where('height', '>', orphanedAbove).execute();
  if (blocks.length === 0) return;
  await transaction
    .insertInto('scanned_blocks')
    .values(blocks.map(({ height, hash }) => ({ network, height, hash })))
    .execute();
  await ofNetwork.where('height', '<=', forgetUpTo).execute();
}
