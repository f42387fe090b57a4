/** The billing job: charges every subscriber that is due, each in its own transaction. */
import { isUnavailable } from '../db/errors.js';
import type { Charges } from './charges.js';
import * as store from './subscriber-store.js';
import type { RoomDeps } from '../db/room-deps.js';
import type { Job } from '../shared/feature.js';
import type { Mode } from '../shared/scope.js';

/** The delay before a failed charge (no rate, a bug) is retried, so that it neither delays the others nor loops. */
const retryMs = 30_000;

export function createBilling({ database, clock, log }: RoomDeps, charges: Charges) {
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
      // A write would wait for a command that writes to SQLite at the time, and the whole process with it.
      if (!(await store.isAnyDue(database.reader, mode, clock.real()))) continue;
      while (!signal.aborted && (await chargeNext(mode)));
    }
  }

  // One run at a time per process, so that everything that was due at the call is charged when the run ends.
  let last = Promise.resolve();
  /** Charges what is due in both modes. Any number of replicas can run it at once. */
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
