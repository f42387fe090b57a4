/** The billing job: charges every subscriber that is due, each in its own transaction. */
import { isUnavailable } from '../db/errors.js';
import type { Charges } from './charges.js';
import * as store from './subscriber-store.js';
import type { RoomDeps } from '../db/room-deps.js';
import type { Job } from '../shared/feature.js';
import type { Mode } from '../shared/scope.js';

/** The delay before a failed charge (no rate, a bug) is retried, so that it neither delays the others nor loops. */
const retryMs = 30_000;

/** Longer than a correction of the clock, and shorter than the shortest cycle. */
const jumpMs = 10 * 60_000;
/** A clock that has jumped forward is believed if it is not put right within this. */
const doubtMs = 10 * 60_000;

/** @param monotonic milliseconds of a clock that never jumps */
export function createBilling(
  { database, clock, log }: RoomDeps,
  charges: Charges,
  monotonic: () => number = () => performance.now(),
) {
  /** The real time at 0 of the monotonic clock, as it is believed. */
  let origin = clock.real() - monotonic();
  let doubtedSince: number | undefined;

  /**
   * Charging skips cycles that are long over: after a jump to next year and back, nobody would be charged for a year. Payments need
   * no such doubt, because their deadlines also wait for blocks.
   */
  function isClockBelieved(): boolean {
    const seen = clock.real() - monotonic();
    if (seen - origin > jumpMs) {
      if (doubtedSince === undefined) {
        doubtedSince = monotonic();
        const minutes = Math.round((seen - origin) / 60_000);
        log.warn(
          { minutes },
          'The clock has jumped forward: live subscriptions are charged again if it keeps this time for ten minutes',
        );
      }
      if (monotonic() - doubtedSince < doubtMs) return false;
    }
    origin = seen;
    doubtedSince = undefined;
    return true;
  }

  /** @returns false if no subscriber is due */
  async function chargeNext(mode: Mode): Promise<boolean> {
    let claimed: store.DueSubscriber | undefined;
    try {
      return await database.write(async (transaction) => {
        claimed = await store.claimDue(transaction, mode, clock.real());
        if (claimed) await charges.charge(transaction, claimed.row, claimed.now);
        return claimed !== undefined;
      });
    } catch (error) {
      if (claimed === undefined || isUnavailable(error)) throw error;
      const { row, now } = claimed;
      const { id } = row;
      log.warn({ err: error, subscriber: id }, 'A subscriber could not be charged; retrying later');
      await database.write((transaction) => store.postponeCharge(transaction, id, now + retryMs));
      return true;
    }
  }

  async function chargeAll(signal: AbortSignal): Promise<void> {
    for (const mode of ['test', 'live'] satisfies Mode[]) {
      if (mode === 'live' && !isClockBelieved()) continue;
      // A write would wait for a command that writes to SQLite at the time, and the whole process with it.
      if (!(await store.isAnyDue(database.reader, mode, clock.real()))) continue;
      while (!signal.aborted && (await chargeNext(mode)));
    }
  }

  // One run at a time per process, so that everything that was due at the call is charged when the run ends.
  let last = Promise.resolve();
  /** Charges due subscribers in both modes. Any number of replicas can run it at once. */
  function run(signal: AbortSignal): Promise<void> {
    const charging = last.then(() => chargeAll(signal));
    last = charging.catch(() => undefined);
    return charging;
  }

  return {
    run,
    jobs: (): readonly Job[] => [{ name: 'billing', intervalMs: 1000, run }],
  };
}
