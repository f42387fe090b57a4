/** The billing job: charges every subscriber that is due, each in its own transaction. */
import type { Logger } from 'pino';
import type { Clock } from '../shared/clock.js';
import type { Database } from '../db/database.js';
import { isUnavailable } from '../db/errors.js';
import type { Charges } from './charges.js';
import type { Mode } from '../shared/scope.js';

export interface Billing {
  /** Charges what is due in both modes. Any number of replicas can run it at once. */
  run(signal: AbortSignal): Promise<void>;
}

export interface BillingDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly charges: Charges;
  readonly log: Logger;
}

/** The delay before a failed charge (no rate, a bug) is retried, so that it neither delays the others nor loops. */
const retryMs = 30_000;

export function createBilling({ database, clock, charges, log }: BillingDeps): Billing {
  /** @returns false if no subscriber is due */
  async function chargeNext(mode: Mode): Promise<boolean> {
    let claimed: string | undefined;
    try {
      return await database.write(async (transaction) => {
        const row = await charges.claim(transaction, mode);
        claimed = row?.id;
        if (row) await charges.charge(transaction, row, clock.now(mode));
        return row !== undefined;
      });
    } catch (error) {
      const id = claimed;
      if (id === undefined || isUnavailable(error)) throw error;
      log.warn({ err: error, subscriber: id }, 'A subscriber could not be charged; retrying later');
      await database.write((transaction) => charges.postpone(transaction, id, clock.now(mode) + retryMs));
      return true;
    }
  }

  async function chargeAll(signal: AbortSignal): Promise<void> {
    for (const mode of ['test', 'live'] satisfies Mode[]) {
      if (!(await charges.isAnyDue(mode))) continue;
      while (!signal.aborted && (await chargeNext(mode)));
    }
  }

  // One run at a time per process, so that everything that was due at the call is charged when the run ends.
  let last = Promise.resolve();
  return {
    run(signal) {
      const run = last.then(() => chargeAll(signal));
      last = run.catch(() => undefined);
      return run;
    },
  };
}
