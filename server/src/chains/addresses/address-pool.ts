/**
 * Addresses that are ready to be given away: indexes reserved in blocks, their addresses derived between requests.
 *
 * Without it every payment that gets an address would wait for the one row that counts a source's indexes, and for
 * the derivation. Blocks start at one index and double while they are used up quickly, so that a quiet shop leaves no
 * gaps for its wallet to search.
 */
import { prepared } from '../../db/prepared.js';
import type { DerivationTable } from '../../db/schema.js';
import type { AddressSource } from './address-sources.js';
import type { Transaction } from '../../db/engine.js';
import { afterCommit } from '../../db/transaction-context.js';

export interface PooledAddress {
  readonly index: number;
  readonly address: string;
}

export interface AddressPool {
  /** An address that nobody has had and nobody else will get. */
  take(transaction: Transaction): Promise<PooledAddress>;
}

const largestBlock = 64;
/** A block that lasts for less than this was too small. */
const shortBlockMs = 2000;
/** A transaction that reserved a block and has not committed by then was probably rolled back. */
const longestReservationMs = 100;

/** Counts a source's indexes up by `next_index`, and answers where the count stands then. */
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

/** @param now a monotonic clock */
export function createAddressPool(source: AddressSource, now = () => performance.now()): AddressPool {
  /** Reserved by committed transactions and not given away yet, the lowest first. */
  const reserved: number[] = [];
  const derived = new Map<number, string>();
  let blockSize = 1;
  let reservedAt = Number.NEGATIVE_INFINITY;
  /** Whether a block is reserved by a transaction that has not committed yet. */
  let isReserving = false;
  let isDeriving = false;

  /** One address for each turn of the event loop, so that nothing waits for the block. */
  function deriveNext(): void {
    const index = reserved.find((one) => !derived.has(one));
    isDeriving = index !== undefined;
    if (index === undefined) return;
    try {
      derived.set(index, source.derive(index));
    } catch {
      // Whoever takes this index derives it again, and gets the error.
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

  /** Reserves a block in the transaction. The indexes that it does not need itself are free once it has committed. */
  async function reserve(transaction: Transaction): Promise<number> {
    const age = now() - reservedAt;
    // Those that cannot wait for the block of another transaction take one index each.
    const isBlock = !isReserving || age > longestReservationMs;
    if (isBlock) {
      blockSize = age < shortBlockMs ? Math.min(largestBlock, blockSize * 2) : 1;
      reservedAt = now();
      isReserving = true;
    }
    const size = isBlock ? blockSize : 1;
    const [row] = await reserveIndexes(transaction, { source_id: source.id, next_index: size });
    if (!row) throw new Error('No index was reserved');
    const end = row.next_index;
    const first = end - size;
    afterCommit(() => {
      if (isBlock) isReserving = false;
      for (let index = first + 1; index < end; index += 1) reserved.push(index);
      if (isDeriving) return;
      isDeriving = true;
      setImmediate(deriveNext);
    });
    return first;
  }

  return {
    async take(transaction) {
      const index = reserved.shift() ?? (await reserve(transaction));
      return { index, address: addressOf(index) };
    },
  };
}
