/** Stores the state of the scans: each network's last scanned block, its lease, and its recent blocks. */
import type { Database } from '../db/database.js';
import { tables, type ChainCursorRow, type Schema } from '../db/schema.js';
import { valuesOf } from '../db/values.js';
import { forUpdate } from '../db/locks.js';
import { prepared, preparedInserts, preparedSend } from '../db/prepared.js';
import { hasRows } from '../db/rows.js';
import type { BlockId, NetworkRef } from '../chains/chain.js';
import type { Transaction, Reader } from '../db/engine.js';

/** The process that may scan a network, and the end of that time (real time, epoch milliseconds). */
export interface Lease extends NetworkRef {
  readonly holder: string;
  readonly until: number;
}

const rows = valuesOf(tables.chain_cursors);

const cursorAt = (reader: Reader, { mode, network }: NetworkRef) =>
  reader
    .selectFrom('chain_cursors')
    .selectAll()
    .where((e) => e.and({ mode, network }));

const findCursor = prepared((reader, { mode, network }: NetworkRef) => cursorAt(reader, { mode, network }));

export async function readCursor(
  reader: Reader,
  { mode, network }: NetworkRef,
): Promise<ChainCursorRow | undefined> {
  const [cursor] = await findCursor(reader, { mode, network });
  return rows.decode(cursor);
}

/** Locks the cursor, so that neither the scanner nor another server changes receipts until the transaction ends. */
export const lockCursor = async (transaction: Transaction, at: NetworkRef): Promise<ChainCursorRow> =>
  rows.decode(await cursorAt(transaction, at).$call(forUpdate(transaction)).executeTakeFirstOrThrow());

/** Changes a cursor, no matter who holds its lease, unless more conditions are added. */
export const updateCursor = (
  transaction: Transaction,
  { mode, network }: NetworkRef,
  changes: Partial<ChainCursorRow>,
) =>
  transaction
    .updateTable('chain_cursors')
    .set(rows.encode(changes))
    .where((e) => e.and({ mode, network }));

/** The time that a scan, or the chain itself, is behind real time, for any scanning process. */
export function lagOf(
  cursor: Pick<ChainCursorRow, 'synced_at' | 'read_until' | 'overdue_since'>,
  now: number,
): number {
  // A scan that reads blocks without reaching the newest one is no further behind than the last that was read.
  const readAt = Math.max(cursor.synced_at, cursor.read_until);
  return now - Math.min(readAt, cursor.overdue_since ?? readAt);
}

/** The height that each network was scanned to. */
export async function listCursors(reader: Reader): Promise<ChainCursorRow[]> {
  const all = reader.selectFrom('chain_cursors').selectAll().orderBy('mode').orderBy('network');
  return (await all.execute()).map(rows.decode);
}

/** True if a server scans a network. One that was killed still seems to, until its lease ends. @param now real time */
export function isScanned(reader: Reader, now: number): Promise<boolean> {
  const cursors = reader.selectFrom('chain_cursors');
  return hasRows(cursors.where('lease_holder', 'is not', null).where('lease_until', '>', now));
}

/** Starts a network at a block. Does nothing if it already has a cursor. */
export function createCursor(
  database: Database,
  lease: Lease,
  head: BlockId,
  syncedAt: number,
): Promise<void> {
  const { mode, network } = lease;
  return database.write(async (transaction) => {
    const { numInsertedOrUpdatedRows: inserted } = await transaction
      .insertInto('chain_cursors')
      .values(
        rows.encode({
          mode,
          network,
          height: head.height,
          hash: head.hash,
          head_height: head.height,
          first_height: head.height,
          synced_at: syncedAt,
          read_until: 0,
          final_height: null,
          overdue_since: null,
          gaps: [],
          disagreement: null,
          problem: null,
          node_limits: null,
          is_wrong_chain: false,
          lease_holder: lease.holder,
          lease_until: lease.until,
        }),
      )
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (inserted === 1n) await writeScannedBlocks(transaction, lease, undefined, [head], -1);
  });
}

/**
 * Takes or renews a lease.
 * @param now real time; another holder's lease that ended before this can be taken
 * @param force takes the lease from another holder, whose next write then throws `LeaseLost`
 * @returns the cursor, which only the holder of the lease moves; undefined if another holder has it
 */
export function takeLease(
  database: Database,
  lease: Lease,
  now: number,
  force: boolean,
): Promise<ChainCursorRow | undefined> {
  const { holder, until } = lease;
  return database.write(async (transaction) => {
    const take = updateCursor(transaction, lease, { lease_holder: holder, lease_until: until });
    const free = take.where((e) =>
      e.or([e('lease_holder', 'is', null), e('lease_holder', '=', holder), e('lease_until', '<', now)]),
    );
    return rows.decode(await (force ? take : free).returningAll().executeTakeFirst());
  });
}

/** Why a scan failed, and whether a node is on another chain, and no other one can be used. */
export type ScanFailure = Pick<ChainCursorRow, 'problem' | 'is_wrong_chain'>;

/** @param failure undefined if the holder's scan did not fail */
export async function releaseLease(
  database: Database,
  network: NetworkRef,
  holder: string,
  failure?: ScanFailure,
): Promise<void> {
  await database.write((transaction) =>
    updateCursor(transaction, network, { lease_until: 0, ...failure })
      .where('lease_holder', '=', holder)
      .execute(),
  );
}

/** Another process scans the network now. The blocks that this one has read must not be written. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor({ mode, network }: NetworkRef) {
    super(`Another process scans ${network} (${mode}) now`);
  }
}

/** The changes that a scan makes to the cursor. */
export type CursorMove = Omit<
  ChainCursorRow,
  'mode' | 'network' | 'first_height' | 'problem' | 'is_wrong_chain' | 'lease_holder' | 'lease_until'
>;

/**
 * Moves a network's cursor and renews its lease.
 * @throws LeaseLost if another holder has taken the lease since, and may have moved the cursor
 */
export async function moveCursor(transaction: Transaction, lease: Lease, move: CursorMove): Promise<void> {
  const { mode, network, holder, until } = lease;
  const changes = rows.encode({ ...move, problem: null, is_wrong_chain: false, lease_until: until });
  const [moved] = await moveHeld(transaction, { ...changes, at: mode, on: network, holder });
  if (!moved) throw new LeaseLost(lease);
}

type Held = Partial<Schema['chain_cursors']> & {
  readonly at: NetworkRef['mode'];
  readonly on: string;
  readonly holder: string;
};

const moveHeld = prepared((transaction, { at: mode, on: network, holder, ...changes }: Held) =>
  transaction
    .updateTable('chain_cursors')
    .set(changes)
    .where((e) => e.and({ mode, network, lease_holder: holder }))
    .returning('height'),
);

/** The hash of a stored block; undefined if it is not stored. */
export async function readScannedHash(
  reader: Reader,
  { mode, network }: NetworkRef,
  height: number,
): Promise<string | undefined> {
  const row = await reader
    .selectFrom('scanned_blocks')
    .select('hash')
    .where((e) => e.and({ mode, network, height }))
    .executeTakeFirst();
  return row?.hash;
}

/** The stored blocks, newest first. */
export function readScannedBlocks(reader: Reader, { mode, network }: NetworkRef): Promise<BlockId[]> {
  return reader
    .selectFrom('scanned_blocks')
    .select(['height', 'hash'])
    .where((e) => e.and({ mode, network }))
    .orderBy('height', 'desc')
    .execute();
}

/** Adds new blocks above `forgetUpTo`, replacing orphaned ones, and deletes those at or below it. */
export async function writeScannedBlocks(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  orphanedAbove: number | undefined,
  blocks: readonly BlockId[],
  forgetUpTo: number,
): Promise<void> {
  if (orphanedAbove !== undefined) {
    const ofNetwork = transaction.deleteFrom('scanned_blocks').where((e) => e.and({ mode, network }));
    await ofNetwork.where('height', '>', orphanedAbove).execute();
  }
  if (blocks.length === 0) return;
  const kept = blocks.filter(({ height }) => height > forgetUpTo);
  await insertScanned(
    transaction,
    kept.map(({ height, hash }) => ({ mode, network, height, hash })),
  );
  await forgetScanned(transaction, { mode, network, forgetUpTo });
}

const insertScanned = preparedInserts('scanned_blocks');

const forgetScanned = preparedSend(
  (transaction, { mode, network, forgetUpTo }: NetworkRef & { readonly forgetUpTo: number }) =>
    transaction
      .deleteFrom('scanned_blocks')
      .where((e) => e.and({ mode, network }))
      .where('height', '<=', forgetUpTo),
);
