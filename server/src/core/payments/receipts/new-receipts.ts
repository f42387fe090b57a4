/** Finds the transfers of a scan that go to our addresses. */
import type { DepositAddresses } from '../../addresses/deposit-addresses.js';
import type { ChainBlock } from '../../chains/chain.js';
import { keyOf, type ScanBatch } from '../../scanning/scan.js';
import type { AddressTable, QuarantineTable } from '../../db/schema.js';
import type { Transaction } from '../../db/engine.js';
import type { Mode } from '../../shared/scope.js';
import type { PresentTransfers } from './receipt-store.js';
import { postpone, readTransfer, release, updateTransfer, type StoredTransfer } from './quarantine.js';

/** A transfer to one of our addresses, and the block it is in, if any. */
export interface IncomingTransfer extends StoredTransfer {
  readonly address: AddressTable;
}

/** Undefined if the pending transfers were not read. */
export function presentTransfers({
  pending,
  blocks,
}: Pick<ScanBatch, 'pending' | 'blocks'>): PresentTransfers | undefined {
  if (!pending) return undefined;
  const inBlocks = new Set(blocks.flatMap((block) => block.transfers).map(keyOf));
  return { has: (key) => pending.has(key) || inBlocks.has(key) };
}

/** The hashes of the transactions that the last scan saw pending, and that are now neither pending nor in a block. */
export function goneTransfers(
  { pending }: Pick<ScanBatch, 'pending'>,
  present: PresentTransfers,
): readonly string[] | undefined {
  const gone = pending?.gone?.filter((transfer) => !present.has(keyOf(transfer)));
  return gone && [...new Set(gone.map(({ txHash }) => txHash))];
}

/**
 * The new transfers of a batch to our addresses. One that is both pending and in a block counts as in the block. Transfers
 * that were pending at the last scan and still are need no look: nothing about them has changed.
 */
export async function findIncoming(
  transaction: Transaction,
  addresses: DepositAddresses,
  batch: ScanBatch,
  seenAt: number,
): Promise<Map<string, IncomingTransfer>> {
  const transfers = [
    ...(batch.pending?.appeared ?? []).map((transfer) => ({ transfer, block: undefined })),
    ...withEarliestTimes(batch).flatMap(({ block, time }) =>
      block.transfers.map((transfer) => ({ transfer, block: { ...block, time } })),
    ),
    // Tokens let anyone forge a transfer of 0 between any two addresses (address poisoning). It is not a receipt.
  ].filter(({ transfer }) => transfer.amount > 0n);
  const incoming = new Map<string, IncomingTransfer>();
  if (transfers.length === 0) return incoming;
  const ours = await findAddresses(
    transaction,
    addresses,
    batch.mode,
    transfers.map(({ transfer }) => transfer.address),
  );
  for (const { transfer, block } of transfers) {
    const address = ours.get(transfer.address);
    if (!address) continue;
    incoming.set(keyOf(transfer), { transfer, block, address, seenAt });
  }
  return incoming;
}

/**
 * Blocks with the earliest time at which they can have existed. Miners set the time of their blocks, on Bitcoin up to
 * an hour too early, and could so make a late payment count as in time. But a block is no older than those before it.
 */
function withEarliestTimes({ blocks, readBefore }: ScanBatch): { block: ChainBlock; time: number }[] {
  let time = readBefore;
  return blocks.map((block) => {
    time = Math.max(time, block.time);
    return { block, time };
  });
}

async function findAddresses(
  transaction: Transaction,
  addresses: DepositAddresses,
  mode: Mode,
  wanted: readonly string[],
): Promise<Map<string, AddressTable>> {
  const found = await addresses.find(transaction, mode, [...new Set(wanted)]);
  return new Map(found.map((address) => [address.address, address]));
}

/** Null if it is a payment, or a row that cannot be read, which must not stop the others. */
async function readOrPostpone(transaction: Transaction, row: QuarantineTable, now: number) {
  try {
    return readTransfer(row);
  } catch (error) {
    if (row.retry_at <= now) await postpone(transaction, row, error, now);
    return null;
  }
}

/**
 * Keeps the transfers that are quarantined in step with the chain, and adds those that are due to the incoming ones, with the time
 * when they were first seen.
 */
export async function followQuarantine(
  transaction: Transaction,
  { orphanedAbove }: ScanBatch,
  addresses: DepositAddresses,
  quarantined: Map<string, QuarantineTable>,
  incoming: Map<string, IncomingTransfer>,
  present: PresentTransfers | undefined,
  now: number,
): Promise<void> {
  for (const row of [...quarantined.values()]) {
    const stored = await readOrPostpone(transaction, row, now);
    if (!stored) continue;
    const found = incoming.get(row.id);
    if (found) {
      incoming.set(row.id, { ...found, seenAt: stored.seenAt });
      continue;
    }
    const isOrphaned = orphanedAbove !== undefined && (stored.block?.height ?? 0) > orphanedAbove;
    const current = isOrphaned ? { ...stored, block: undefined } : stored;
    if (!current.block && present && !present.has(row.id)) {
      // It left the network before a receipt was stored: there is nothing to credit.
      await release(transaction, row);
      quarantined.delete(row.id);
      continue;
    }
    if (isOrphaned) await updateTransfer(transaction, row, current);
    if (row.retry_at > now) continue;
    const address = (await findAddresses(transaction, addresses, row.mode, [stored.transfer.address])).get(
      stored.transfer.address,
    );
    if (address) incoming.set(row.id, { ...current, address });
  }
}
