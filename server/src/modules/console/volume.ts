/** The sums paid in full on each day. Days that are over are remembered, since no payment is added to them. */
import type { Reader } from '../../core/db/engine.js';
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

export function createVolume(read: Reader) {
  /** By merchant, mode and day, oldest first. */
  const known = new Map<string, Known>();

  /** @param now by the scope's clock, as the day is */
  return async (scope: Scope, day: Day, now: number): Promise<readonly DayVolume[]> => {
    const key = `${scope.merchantId}/${scope.mode}/${day.start}/${day.end}`;
    const kept = known.get(key);
    if (kept && performance.now() < kept.until) return kept.volume;
    const volume = await readDay(read, scope, day);
    if (now >= day.end + settledAfterMs) {
      const until = performance.now() + keptMs[scope.mode];
      remember(known, key, { volume, until }, mostKept);
    }
    return volume;
  };
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
