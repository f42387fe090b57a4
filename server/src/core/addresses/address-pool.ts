/**
 * A pool of deposit addresses: reserves indexes in blocks, and derives their addresses between requests.
 *
 * Without it, every payment that gets an address would wait for the one row that counts a source's indexes, and for
 * the derivation. Blocks start at one index and double while they are used up quickly, so that a quiet shop leaves no
 * unused indexes, which its wallet would have to scan past.
 */
import { prepared } from '../db/prepared.js';
import type { DerivationTable } from '../db/schema.js';
import type { AddressSource } from './address-sources.js';
import type { Database } from '../db/database.js';
import { engineOf, type Transaction } from '../db/engine.js';
import { afterCommit } from '../db/transaction-context.js';

const largestBlock = 64;
/** Under load, the next block is reserved when so few are left. */
const lowReserve = 32;
/** A block that was used up faster than this was too small. */
const shortBlockMs = 2000;
/** If a transaction that reserved a block has not committed after this time, it was probably rolled back. */
const longestReservationMs = 100;
/** Longer than most commits take. */
const longestWaitMs = 30;
/** The first block was reserved before anybody waited, so it may be too small for all who do. */
const mostWaits = 3;

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
  database: Pick<Database, 'write'>,
  now = () => performance.now(),
  onReserve: (transaction: Transaction, first: number, next: number) => void = () => {},
) {
  /** Reserved by committed transactions and not given out yet, lowest first. */
  const reserved: number[] = [];
  const derived = new Map<number, string>();
  let blockSize = 1;
  let reservedAt = Number.NEGATIVE_INFINITY;
  /** True while a transaction that has not committed yet reserves a block. */
  let isReserving = false;
  let isDeriving = false;
  /** The number of addresses reserved singly since then, because the block was too small for simultaneous requests. */
  let singles = 0;
  /** Transactions that wait for the block that is being reserved. */
  let waiting: (() => void)[] = [];

  /** Derives one address per turn of the event loop, so that no request waits for the whole block. */
  function deriveNext(): void {
    const index = reserved.find((candidate) => !derived.has(candidate));
    isDeriving = index !== undefined;
    if (index === undefined) return;
    try {
      derived.set(index, source.derive(index));
    } catch {
      // `take` will derive this index again, and throw the error to its caller.
      isDeriving = false;
      return;
    }
    setImmediate(deriveNext);
  }

  function addressOf(index: number): string {
    const address = derived.get(index) ?? source.derive(index);
    derived.delete(index);
    return address;
  }

  /**
   * Reserves a block, whose indexes can be taken once the transaction has committed.
   * @param takesFirst keeps the first index, which is returned, for the transaction itself
   */
  async function reserveBlock(transaction: Transaction, takesFirst: boolean): Promise<number> {
    blockSize = isBusy() ? Math.min(largestBlock, (blockSize + singles) * 2) : 1;
    singles = 0;
    const size = blockSize;
    reservedAt = now();
    isReserving = true;
    const first = await takeIndexes(transaction, source.id, size);
    onReserve(transaction, first, first + size);
    afterCommit(transaction, () => {
      isReserving = false;
      for (let index = takesFirst ? first + 1 : first; index < first + size; index += 1) reserved.push(index);
      wake();
      if (isDeriving) return;
      isDeriving = true;
      setImmediate(deriveNext);
    });
    return first;
  }

  /**
   * Reserves a block while there are some left, in a transaction that does nothing else: it locks the count of the source, for which
   * other servers wait. If it fails, the next one without an address reserves its own.
   */
  function refill(): void {
    if (!isLow() || !canReserve()) return;
    isReserving = true;
    reservedAt = now();
    void database.write((transaction) => reserveBlock(transaction, false)).catch(() => undefined);
  }

  function wake(): void {
    const woken = waiting;
    waiting = [];
    for (const goOn of woken) goOn();
  }

  /**
   * Waits for the block that another transaction of this process reserves. On PostgreSQL, each one that reserves locks the count
   * until its commit: transactions that reserve single indexes would wait for one commit after another.
   */
  function nextBlock(): Promise<void> {
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        // It was rolled back, or another server holds the count.
        isReserving = false;
        wake();
      }, longestWaitMs);
      waiting.push(() => {
        clearTimeout(late);
        resolve();
      });
    });
  }

  /** SQLite runs one transaction at a time: there, nobody can wait for another one that has not committed. */
  async function reserveOne(transaction: Transaction): Promise<number> {
    singles += 1;
    const index = await takeIndexes(transaction, source.id, 1);
    onReserve(transaction, index, index + 1);
    return index;
  }

  const isLow = () => reserved.length < lowReserve && blockSize > lowReserve && isBusy();
  const isBusy = () => now() - reservedAt < shortBlockMs;
  const canReserve = () => !isReserving || now() - reservedAt > longestReservationMs;

  return {
    /** Takes an address that was never given out before and never will be again. */
    async take(transaction: Transaction): Promise<{ readonly index: number; readonly address: string }> {
      let ready = reserved.shift();
      const mayWait = ready === undefined && engineOf(transaction) === 'postgres' && !canReserve();
      if (mayWait) singles += 1;
      for (let left = mostWaits; mayWait && ready === undefined && left > 0 && !canReserve(); left -= 1) {
        await nextBlock();
        ready = reserved.shift();
      }
      if (ready === undefined) {
        const index = await (canReserve() ? reserveBlock(transaction, true) : reserveOne(transaction));
        return { index, address: addressOf(index) };
      }
      if (isLow()) afterCommit(transaction, refill);
      return { index: ready, address: addressOf(ready) };
    },
  };
}
