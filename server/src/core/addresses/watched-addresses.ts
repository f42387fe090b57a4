/**
 * Finds which addresses of a block are deposit addresses. Nearly all of a block's addresses are strangers'. A filter in memory
 * knows that without asking the database, at the same cost for ten addresses and for a million, in 4 MB.
 */
import { inChunks } from '../db/chunks.js';
import type { Database } from '../db/database.js';
import type { Reader } from '../db/engine.js';
import { isPayable } from '../db/payment-status.js';
import { hasRows } from '../db/rows.js';
import type { Mode } from '../shared/scope.js';
import { canonicalForms } from './formats.js';

export type WatchedAddresses = ReturnType<typeof createWatchedAddresses>;

const pageSize = 5000;
/**
 * The longest time that a transaction may take to commit after it has taken its number. PostgreSQL does not count in
 * the order of commits.
 */
const longestTransactionMs = 600_000;
/** The most gaps in the numbers that are queried again. Deleted addresses and failed transactions leave permanent gaps. */
const mostGaps = 2000;

/** @param now milliseconds of a clock that never goes back */
export function createWatchedAddresses(
  { engine, reader }: Database,
  now: () => number = performance.now.bind(performance),
) {
  const filter = createAddressFilter();
  /** The newest row that was read. Its id is random, so no other row has both. */
  let last = { sequence: 0, id: '' };
  /** Numbers that had no address when later ones had, and when that was noticed. */
  const gaps = new Map<number, number>();
  let queue: Promise<void> = Promise.resolve();
  let lookups = 0;

  const select = () => reader.selectFrom('addresses').select(['sequence', 'id', 'address']);

  function add(rows: Awaited<ReturnType<ReturnType<typeof select>['execute']>>): void {
    const noticed = now();
    for (const { sequence, id, address } of rows) {
      filter.add(address.toLowerCase());
      gaps.delete(sequence);
      // SQLite has one writer, so its numbers are in the order of the commits.
      const missing = engine === 'sqlite' ? sequence : Math.max(last.sequence + 1, sequence - mostGaps);
      for (let gap = missing; gap < sequence; gap += 1) gaps.set(gap, noticed);
      if (sequence > last.sequence) last = { sequence, id };
    }
    for (const [gap, since] of gaps) {
      if (gaps.size <= mostGaps && noticed - since <= longestTransactionMs) break;
      gaps.delete(gap);
    }
  }

  /** Adds the addresses committed since the last call. The first call reads all of them, which takes seconds for millions. */
  async function refresh(): Promise<void> {
    if (gaps.size > 0) {
      add(await inChunks([...gaps.keys()], (chunk) => select().where('sequence', 'in', chunk).execute()));
    }
    for (;;) {
      const rows = await select()
        .where('sequence', '>=', last.sequence)
        .orderBy('sequence')
        .limit(pageSize)
        .execute();
      if (last.sequence > 0 && rows[0]?.id !== last.id) {
        // The database has gone back, as in a failover that loses transactions, and other addresses may have got the numbers
        // since. Or a reset of test data took that row, which is rare enough to read all again.
        last = { sequence: 0, id: '' };
        gaps.clear();
        continue;
      }
      add(rows);
      if (rows.length < pageSize) return;
    }
  }

  /** One after the other: a call must not be answered by a refresh that began before it. */
  function refreshed(): Promise<void> {
    const next = queue.then(refresh);
    queue = next.catch(() => {});
    return next;
  }

  return {
    /** The number of addresses that the database was asked about, for benchmarks and tests. */
    lookups: (): number => lookups,

    /**
     * The deposit addresses of a mode among these, answered as they were asked: in their canonical form, or EVM
     * addresses in lower case. Everything that any process has committed before the call counts. Must not be called
     * inside a transaction.
     */
    async find(mode: Mode, addresses: readonly string[]): Promise<ReadonlySet<string>> {
      await refreshed();
      const possible = addresses.filter((address) => filter.mayHave(address.toLowerCase()));
      lookups += possible.length;
      const asked = new Map(
        possible.flatMap((address) => canonicalForms(mode, address).map((form) => [form, address])),
      );
      const rows = await inChunks([...asked.keys()], (chunk) =>
        reader
          .selectFrom('addresses')
          .select('address')
          .where('address', 'in', chunk)
          .where('mode', '=', mode)
          .execute(),
      );
      return new Set(rows.flatMap(({ address }) => asked.get(address) ?? []));
    },
  };
}

/** 4 MB: with a million addresses, one answer in 50,000 is a false yes, and with ten million, one in three. */
const bits = 2 ** 25;
const hashes = [0, 1, 2, 3, 4, 5];

/** A Bloom filter of addresses, of a fixed size: it never gives a false no, and the fuller it is, the more often a false yes. */
function createAddressFilter() {
  const words = new Uint32Array(bits / 32);

  /** The places of an address among the bits. */
  function placesOf(address: string): number[] {
    // FNV-1a with two bases. The hashes are combined as by Kirsch and Mitzenmacher.
    let a = 0x811c9dc5;
    let b = 0x01000193;
    for (let position = 0; position < address.length; position += 1) {
      const character = address.charCodeAt(position);
      a = Math.imul(a ^ character, 0x01000193);
      b = Math.imul(b ^ character, 0x85ebca6b) ^ (b >>> 13);
    }
    return hashes.map((index) => (a + Math.imul(index, b | 1)) & (bits - 1));
  }

  return {
    add(address: string): void {
      for (const place of placesOf(address))
        words[place >>> 5] = (words[place >>> 5] ?? 0) | (1 << (place & 31));
    },
    /** True if the address may have been added. */
    mayHave: (address: string): boolean =>
      placesOf(address).every((place) => ((words[place >>> 5] ?? 0) & (1 << (place & 31))) !== 0),
  };
}

/** True if someone may pay soon in a mode, on any network: a payment waits for money, or a wallet has an address. */
export async function isAnyoneExpected(reader: Reader, mode: Mode): Promise<boolean> {
  const payments = reader.selectFrom('payments').where(isPayable).where('mode', '=', mode);
  if (await hasRows(payments.where('address', 'is not', null))) return true;
  return hasRows(reader.selectFrom('wallets').where('mode', '=', mode));
}
