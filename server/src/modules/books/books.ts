/**
 * The books for a merchant's accountant: its bookings by time, their worth, and proof that they add up to the
 * balances. A room of its own: others do not know that it exists.
 */
import { fromUnits, type Booking } from 'crypto-checkout/contract';
import * as z from 'zod/mini';
import type { Database } from '../../core/db/database.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { lockName } from '../../core/db/locks.js';
import type { PersonalData } from '../../core/db/personal-data.js';
import type { Ledger } from '../../core/ledger/ledger.js';
import type { Merchants } from '../../core/merchants/merchants.js';
import type { Currencies } from '../../core/money/currencies.js';
import type { RateSource } from '../../core/money/rates.js';
import type { Clock } from '../../core/shared/clock.js';
import type { Job } from '../../core/shared/feature.js';
import { invalidField, Problem } from '../../core/shared/problem.js';
import type { Scope } from '../../core/shared/scope.js';
import { makeBookings } from './bookings.js';
import * as store from './books-store.js';
import { endOfDay, isFinal, isFinalSinceMoved, readPeriod, type AskedPeriod, type Period } from './period.js';
import { keepCurrentRates } from './values.js';

export interface BooksDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly currencies: Currencies;
  readonly personalData: PersonalData;
  readonly ledger: Pick<Ledger, 'nameMerchants'>;
  readonly merchants: Pick<Merchants, 'retrieve'>;
  readonly rates: RateSource;
}

/** By asset, in units. */
type Totals = Map<string, bigint>;

export interface BooksPage {
  readonly begin: Totals;
  readonly end: Totals;
  readonly bookings: readonly Booking[];
  readonly next: store.Place | undefined;
}

/** A place in a list, and the balances there. */
interface After {
  readonly place: store.Place;
  readonly totals: Totals;
}

/** The sums of a period's bookings, with the balances of the accounts. */
export interface BooksSum {
  readonly asset: string;
  readonly begin: bigint;
  readonly moved: bigint;
  readonly end: bigint;
  /** The end by the accounts: what they have now, less what was booked since. */
  readonly accounts: bigint;
}

export type Books = ReturnType<typeof createBooks>;

/** The number of bookings that one read gets, and that the command writes at once. */
const pageSize = 500;
const namedAtOnce = 500;
/** After any booking. */
const forever = Number.MAX_SAFE_INTEGER;

export function createBooks(deps: BooksDeps) {
  const { database, clock, currencies, ledger, merchants } = deps;

  /** The balances before a moment. */
  async function balancesAt(reader: Reader, scope: Scope, time: number): Promise<Totals> {
    const kept = await store.keptBalances(reader, scope, time);
    const since = await store.sumBooked(reader, scope, kept?.at ?? 0, time);
    return added(kept?.totals ?? new Map(), since);
  }

  async function readPage(
    reader: Reader,
    scope: Scope,
    period: Period,
    booksCurrency: string,
    after: After | undefined,
    limit: number,
  ): Promise<BooksPage> {
    const postings = await store.readPostings(reader, scope, period, after?.place, limit);
    const begin = after?.totals ?? (await balancesAt(reader, scope, period.from));
    const end = new Map(begin);
    const currency = currencies.known(booksCurrency);
    const request = { postings, zone: period.zone, currency, totals: end };
    const bookings = await makeBookings(deps, reader, request);
    const last = postings.at(-1);
    const next =
      last && postings.length === limit ? { time: last.created_at, rank: last.rank, id: last.id } : undefined;
    return { begin, end, bookings, next };
  }

  async function nameMerchants(signal?: AbortSignal): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      if (!(await store.hasUnnamed(database.reader))) return;
      await database.write((transaction) => ledger.nameMerchants(transaction, namedAtOnce));
    }
  }

  async function ensureNamed(reader: Reader): Promise<void> {
    if (!(await store.hasUnnamed(reader))) return;
    throw new Problem(
      'service_unavailable',
      'The books are being prepared after an upgrade; try again in a minute',
      { retryAfterSeconds: 60 },
    );
  }

  /** The first day with bookings after the last balance that is kept: what is kept, the day's end, and whether it is over. */
  async function nextToKeep(reader: Reader, scope: Scope) {
    const kept = await store.keptBalances(reader, scope, forever);
    const from = kept?.at ?? 0;
    const first = await store.firstBooked(reader, scope, from);
    if (first === undefined) return undefined;
    const to = endOfDay(first);
    if (!isFinalSinceMoved(clock, { to }, scope)) return undefined;
    return { from, to, totals: kept?.totals ?? new Map<string, bigint>() };
  }

  /** @returns true if there was a day to keep */
  async function keepDay(scope: Scope): Promise<boolean> {
    if (!(await nextToKeep(database.reader, scope))) return false;
    return database.write(async (transaction) => {
      await lockBalances(transaction, scope.merchantId);
      // An older release's postings would be missing for good.
      if (await store.hasUnnamed(transaction)) return false;
      const next = await nextToKeep(transaction, scope);
      if (!next) return false;
      const sums = await store.sumBooked(transaction, scope, next.from, next.to);
      await store.keepBalances(transaction, scope, next.to, added(next.totals, sums));
      return true;
    });
  }

  /** Keeps the balances at the end of each day that had bookings and is over. */
  async function keepDays(signal: AbortSignal): Promise<void> {
    await nameMerchants(signal);
    for (const scope of await store.listScopes(database.reader)) {
      while (await keepDay(scope)) signal.throwIfAborted();
    }
  }

  return {
    /** Problem: `validation_error`. */
    period: readPeriod,

    /** True if nothing is added to a period any more. */
    isFinal: (scope: Scope, period: Period) => isFinal(period, clock.now(scope)),

    currency: async (merchantId: string): Promise<string> =>
      (await merchants.retrieve(database.reader, merchantId)).booksCurrency,

    /** One part of a list for the API. Problems: `validation_error`, `service_unavailable`. */
    async list(
      scope: Scope,
      asked: AskedPeriod & { readonly limit: number; readonly cursor?: string | undefined },
    ) {
      const period = readPeriod(asked);
      const after = asked.cursor === undefined ? undefined : readCursor(asked.cursor, period);
      if ([...(after?.totals.keys() ?? [])].some((asset) => currencies.find(asset)?.code !== asset)) {
        throw invalidField('cursor', notOurs);
      }
      const { booksCurrency: currency } = await merchants.retrieve(database.reader, scope.merchantId);
      const page = await database.snapshot(async (reader) => {
        await ensureNamed(reader);
        return readPage(reader, scope, period, currency, after, asked.limit);
      });
      const next = page.next && writeCursor(page.next, page.end, period);
      return {
        period,
        currency,
        isFinal: isFinal(period, clock.now(scope)),
        begin: viewTotals(page.begin),
        end: viewTotals(page.end),
        bookings: page.bookings,
        next,
      };
    },

    /** Names the merchants of postings of an older release. The books are not whole before. */
    nameMerchants,

    /**
     * All bookings of a period, oldest first, page by page: the memory that it takes does not grow with their number. Read it in a
     * snapshot.
     * @returns the sums, which must be those of the accounts
     */
    async *read(
      reader: Reader,
      scope: Scope,
      period: Period,
    ): AsyncGenerator<readonly Booking[], BooksSum[]> {
      const begin = await balancesAt(reader, scope, period.from);
      const { booksCurrency } = await merchants.retrieve(reader, scope.merchantId);
      let after: After | undefined;
      let end = begin;
      do {
        const page: BooksPage = await readPage(reader, scope, period, booksCurrency, after, pageSize);
        yield page.bookings;
        end = page.end;
        after = page.next && { place: page.next, totals: page.end };
      } while (after);
      const [now, since] = [
        await store.sumAccounts(reader, scope),
        await store.sumBooked(reader, scope, period.to, forever),
      ];
      const assets = new Set([...begin.keys(), ...end.keys(), ...now.keys()]);
      return [...assets].sort().map((asset) => {
        const [first, last] = [begin.get(asset) ?? 0n, end.get(asset) ?? 0n];
        const accounts = (now.get(asset) ?? 0n) - (since.get(asset) ?? 0n);
        return { asset, begin: first, moved: last - first, end: last, accounts };
      });
    },

    /** Forgets what is kept of the sandbox. */
    async forget(transaction: Transaction, merchantId: string): Promise<void> {
      await lockBalances(transaction, merchantId);
      await store.deleteBalances(transaction, { merchantId, mode: 'test' });
    },

    /** As a decimal. */
    amountText: (units: bigint, asset: string) => fromUnits(units, currencies.known(asset).decimals),

    jobs: (): readonly Job[] => [
      { name: 'book-names', intervalMs: 5000, run: nameMerchants },
      { name: 'book-rates', intervalMs: 60_000, run: () => keepCurrentRates(deps) },
      { name: 'book-days', intervalMs: 3_600_000, run: keepDays },
    ],
  };

  function viewTotals(totals: Totals) {
    return [...totals]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([asset, total]) => ({ asset, total: fromUnits(total, currencies.known(asset).decimals) }));
  }
}

function added(totals: ReadonlyMap<string, bigint>, more: ReadonlyMap<string, bigint>): Totals {
  const sums = new Map(totals);
  for (const [asset, units] of more) sums.set(asset, (sums.get(asset) ?? 0n) + units);
  return sums;
}

/** The place after which a list continues, the period that it belongs to, and the balances there. */
const cursorShape = z.object({
  period: z.tuple([z.int(), z.int()]),
  place: z.tuple([z.int(), z.int(), z.string().check(z.maxLength(40))]),
  totals: z.record(z.string().check(z.maxLength(20)), z.string().check(z.regex(/^-?\d{1,80}$/))),
});

const notOurs = 'Must be the "next" of an earlier reply';

function writeCursor({ time, rank, id }: store.Place, totals: Totals, { from, to }: Period): string {
  const cursor = {
    period: [from, to],
    place: [time, rank, id],
    totals: Object.fromEntries([...totals].map(([asset, units]) => [asset, units.toString()])),
  };
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

function readCursor(text: string, { from, to }: Period): After {
  const cursor = cursorShape.safeParse(jsonOf(text)).data;
  if (!cursor) throw invalidField('cursor', notOurs);
  if (cursor.period[0] !== from || cursor.period[1] !== to) {
    throw invalidField('cursor', 'Belongs to another period');
  }
  const [time, rank, id] = cursor.place;
  const totals: Totals = new Map(
    Object.entries(cursor.totals).map(([asset, units]) => [asset, BigInt(units)]),
  );
  return { place: { time, rank, id }, totals };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Keeping a merchant's balances and wiping its test data exclude each other: a balance of wiped bookings must not be
 * kept.
 */
const lockBalances = (transaction: Transaction, merchantId: string) =>
  lockName(transaction, `balances:${merchantId}`);
