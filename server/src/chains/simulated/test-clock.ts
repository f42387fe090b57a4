/** The clock of both modes: real time, plus an offset in test mode that the sandbox moves forward. */
import type { Clock } from '../../shared/clock.js';
import type { Database } from '../../db/database.js';
import { forUpdate } from '../../db/locks.js';
import { invalidField } from '../../shared/problem.js';
import type { Transaction } from '../../db/engine.js';

export interface TestClock extends Clock {
  /**
   * Moves test mode's clock forward. `now` changes at the first `refresh` after the commit.
   * Problem: `validation_error`.
   * @returns what `now('test')` will be, epoch milliseconds
   */
  advance(transaction: Transaction, seconds: number): Promise<number>;
  /** Reads the offset that this process, or another one on the same database, has committed. */
  refresh(): Promise<void>;
}

const setting = 'test-clock-offset';
/** ISO 8601 with four-digit years ends with the year 9999. This leaves a century for the clock to run on. */
const end = Date.UTC(9900, 0);

/** @param realNow epoch milliseconds */
export async function createTestClock(
  database: Database,
  realNow: () => number = Date.now,
): Promise<TestClock> {
  let offset = 0;
  const clock: TestClock = {
    now: (mode) => realNow() + (mode === 'test' ? offset : 0),

    async advance(transaction, seconds) {
      await transaction
        .insertInto('settings')
        .values({ name: setting, value: '0' })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const row = await transaction
        .selectFrom('settings')
        .select('value')
        .where('name', '=', setting)
        .$call(forUpdate(transaction))
        .executeTakeFirstOrThrow();
      const advanced = Number(row.value) + seconds * 1000;
      const now = realNow() + advanced;
      if (now >= end) throw invalidField('advanceSeconds', 'The clock cannot be moved past the year 9899');
      await transaction
        .updateTable('settings')
        .set({ value: String(advanced) })
        .where('name', '=', setting)
        .execute();
      return now;
    },

    async refresh() {
      const row = await database.reader
        .selectFrom('settings')
        .select('value')
        .where('name', '=', setting)
        .executeTakeFirst();
      // Reads can finish out of order. The clock never goes back.
      offset = Math.max(offset, Number(row?.value ?? 0));
    },
  };
  await clock.refresh();
  return clock;
}
