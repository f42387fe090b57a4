/**
 * The sums paid in full on each day. Days that are over are remembered, since no payment is added to them. Payments that were
 * reversed since are read each time.
 */
import type { Reader } from '../../core/db/engine.js';
import { needsReview } from '../../core/db/payment-status.js';
import { readUnits, sumUnits } from '../../core/db/units.js';
import type { Mode, Scope } from '../../core/shared/scope.js';
import { remember } from '../../core/shared/remember.js';

/** A day of the shop's zone, epoch milliseconds: `end` is the first moment of the next one. */
export interface Day {
  readonly start: number;
  readonly end: number;
}

export interface DayVolume {
  readonly currency: string;
  readonly payments: number;
  /** In units. */
  readonly amount: bigint;
}

interface Known {
  readonly volume: readonly DayVolume[];
  /** Until when it may be used, by this machine's clock. */
  readonly until: number;
}

/** A transaction that began before midnight can commit after it. */
const settledAfterMs = 600_000;
/** Live days never change. Test data can be wiped by a command. */
const keptMs: Readonly<Record<Mode, number>> = { live: Number.POSITIVE_INFINITY, test: 60_000 };
const mostKept = 10_000;
/** Hardly any payment is paid in full so long after it was created. */
const longestOpenMs = 90 * 86_400_000;

export function createVolume(read: Reader) {
  /** By merchant, mode and day, oldest first. */
  const known = new Map<string, Known>();

  async function paidOn(scope: Scope, day: Day, now: number): Promise<readonly DayVolume[]> {
    const key = `${scope.merchantId}/${scope.mode}/${day.start}/${day.end}`;
    const kept = known.get(key);
    if (kept && performance.now() < kept.until) return kept.volume;
    const volume = await readDay(read, scope, day);
    if (now >= day.end + settledAfterMs) {
      const until = performance.now() + keptMs[scope.mode];
      remember(known, key, { volume, until }, mostKept);
    }
    return volume;
  }

  /**
   * @param days oldest first
   * @param now by the scope's clock, as the days are
   * @returns the sums of each day
   */
  return async (scope: Scope, days: readonly Day[], now: number): Promise<(readonly DayVolume[])[]> => {
    const reversed = await readReversed(read, scope, days[0]?.start ?? now);
    const volumes: (readonly DayVolume[])[] = [];
    for (const day of days) {
      const lost = reversed.filter(({ settledAt }) => settledAt >= day.start && settledAt < day.end);
      volumes.push(without(lost, await paidOn(scope, day, now)));
    }
    return volumes;
  };
}

interface Reversed {
  readonly settledAt: number;
  readonly currency: string;
  readonly amount: bigint;
}

function without(reversed: readonly Reversed[], volume: readonly DayVolume[]): readonly DayVolume[] {
  if (reversed.length === 0) return volume;
  return volume
    .map(({ currency, payments, amount }) => {
      const lost = reversed.filter((one) => one.currency === currency);
      const rest = lost.reduce((sum, one) => sum - one.amount, amount);
      return { currency, payments: payments - lost.length, amount: rest };
    })
    .filter(({ payments }) => payments > 0);
}

/** Payments that were paid in full since a time, and reversed later. They are few. */
async function readReversed(reader: Reader, { merchantId, mode }: Scope, since: number): Promise<Reversed[]> {
  const rows = await reader
    .selectFrom('payments')
    .select(['settled_at', 'base_currency', 'base_amount'])
    .where((e) => e.and({ merchant_id: merchantId, mode }))
    .where(needsReview.reversed)
    .where('settled_at', '>=', since)
    // The index for reviews is read from this time on, and not from the first payment on.
    .where('created_at', '>=', since - longestOpenMs)
    .execute();
  return rows.map(({ settled_at: settledAt, base_currency: currency, base_amount: amount }) => ({
    settledAt: settledAt ?? 0,
    currency,
    amount: readUnits(amount),
  }));
}

async function readDay(
  reader: Reader,
  { merchantId, mode }: Scope,
  { start, end }: Day,
): Promise<DayVolume[]> {
  const rows = await reader
    .selectFrom('payments')
    .select((e) => [
      'base_currency',
      e.fn.countAll<number | string>().as('payments'),
      sumUnits(reader, 'base_amount').as('amount'),
    ])
    .where((e) => e.and({ merchant_id: merchantId, mode }))
    .where('settled_at', '>=', start)
    .where('settled_at', '<', end)
    .groupBy('base_currency')
    .orderBy('base_currency')
    .execute();
  return rows.map(({ base_currency: currency, payments, amount }) => ({
    currency,
    payments: Number(payments),
    amount: readUnits(amount),
  }));
}
