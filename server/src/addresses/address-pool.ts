/**
 * A pool of deposit addresses: reserves indexes in blocks.
 *
 * Without it, every payment that gets an address would wait for the one row that counts a source's indexes. Blocks start at
 * one index and double while they are used up quickly, so that a quiet shop leaves no unused indexes, which its wallet would
 * have to scan past.
 */
import { prepared } from '../db/prepared.js';
import type { DerivationTable } from '../db/schema.js';
import type { AddressSource } from './address-sources.js';
import type { Transaction } from '../db/engine.js';
import { afterCommit } from '../db/transaction-context.js';

const largestBlock = 64;
/** Under load, the next block is reserved when so few are left. */
const lowReserve = 32;
/** A block that was used up faster than this was too small. */
const shortBlockMs = 2000;
/** If a transaction that reserved a block has not committed after this time, it was probably rolled back. */
const longestReservationMs = 100;

/** Increases a source's index count by `next_index`, and returns the new count. */
const reserveIndexes = prepared((transaction, row: DerivationTable) =>
  transaction
    .insertInto('derivations')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('source_id')
        .doUpdateSet((e) => ({ next_index: e('derivations.next_index', '+', e.ref('excluded.next_index')) })),
    )
    .returning('next_index'),
);

/** Takes as many indexes of a source, which are never taken again. @returns the first */
export async function takeIndexes(
  transaction: Transaction,
  sourceId: string,
  count: number,
): Promise<number> {
  const [row] = await reserveIndexes(transaction, { source_id: sourceId, next_index: count });
  if (!row) throw new Error('No index was reserved');
  return row.next_index - count;
}

/** Sees to it that no index of a source below this one is taken any more. */
export async function raiseIndex(transaction: Transaction, sourceId: string, next: number): Promise<void> {
  const first = await takeIndexes(transaction, sourceId, 0);
  if (next > first) await takeIndexes(transaction, sourceId, next - first);
}

/**
 * @param now a monotonic clock
 * @param onReserve called in the transaction that reserves indexes, with the first of them and the first one after them
 */
export function createAddressPool(
  source: Pick<AddressSource, 'id' | 'derive'>,
  now = () => performance.now(),
  onReserve: (first: number, next: number) => void = () => {},
) {
  /** Reserved by committed transactions and not given out yet, lowest first. */
  const reserved: number[] = [];
  let blockSize = 1;
  let reservedAt = Number.NEGATIVE_INFINITY;
  /** Whether a transaction that has not committed yet is reserving a block. */
  let isReserving = false;

  async function takeNew(transaction: Transaction, count: number): Promise<number> {
    const first = await takeIndexes(transaction, source.id, count);
    onReserve(first, first + count);
    return first;
  }

  /**
   * Reserves a block, whose indexes can be taken once the transaction has committed.
   * @param kept how many of them, the first, the transaction itself takes
   */
  async function reserveBlock(transaction: Transaction, kept: 0 | 1): Promise<number> {
    blockSize = isBusy() ? Math.min(largestBlock, blockSize * 2) : 1;
    reservedAt = now();
    isReserving = true;
    const size = blockSize;
    const first = await takeNew(transaction, size);
    afterCommit(() => {
      isReserving = false;
      for (let index = first + kept; index < first + size; index += 1) reserved.push(index);
    });
    return first;
  }

  const isBusy = () => now() - reservedAt < shortBlockMs;
  const canReserve = () => !isReserving || now() - reservedAt > longestReservationMs;

  async function takeIndex(transaction: Transaction): Promise<number> {
    const ready = reserved.shift();
    if (ready === undefined) {
      // While another transaction is reserving a block, it is better to take a single index than to wait for the block.
      return canReserve() ? reserveBlock(transaction, 1) : takeNew(transaction, 1);
    }
    const isLow = reserved.length < lowReserve && blockSize > lowReserve && isBusy();
    // There are some left, so nobody waits for this transaction to end.
    if (isLow && canReserve()) await reserveBlock(transaction, 0);
    return ready;
  }

  return {
    /** Takes an address that was never given out before and never will be again. */
    async take(transaction: Transaction): Promise<{ readonly index: number; readonly address: string }> {
      const index = await takeIndex(transaction);
      return { index, address: source.derive(index) };
    },
  };
}
