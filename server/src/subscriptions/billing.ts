/** The billing job: charges every subscriber that is due, each in a transaction of its own. */
import type { Logger } from 'pino';
import type { Clock } from '../shared/clock.js';
import type { Database } from '../db/database.js';
import { isUnavailable } from '../db/errors.js';
import type { Charges } from './charges.js';
import type { Mode } from '../shared/scope.js';

export interface Billing {
  /** Charges what is due in both modes. Any number of servers on one database may do so at once. */
  run(signal: AbortSignal): Promise<void>;
}

export interface BillingDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly charges: Charges;
  readonly log: Logger;
}

/** When to try again what could not be charged: no rate, a bug. It delays nobody else, and is not tried in a circle. */
const retryMs = 30_000;

export function createBilling({ database, clock, charges, log }: BillingDeps): Billing {
  /** @returns false when nobody waits any more */
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
      log.warn({ err: error, subscriber: id }, 'A subscriber could not be charged and is tried again');
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

  // One run at a time in a process, so that whoever asked for one knows at its end that all is charged.
  let last = Promise.resolve();
  return {
    run(signal) {
      const run = last.then(() => chargeAll(signal));
      last = run.catch(() => undefined);
      return run;
    },
  };
}
