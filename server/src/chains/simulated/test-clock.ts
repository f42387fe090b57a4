/** The clock of both modes: real time, and in test mode an offset that the sandbox moves forward. */
import type { Clock } from '../../shared/clock.js';
import type { Database } from '../../db/database.js';
import { forUpdate } from '../../db/locks.js';
import { invalidField } from '../../shared/problem.js';
import type { Transaction } from '../../db/engine.js';

export interface TestClock extends Clock {
  /**
   * Moves test mode's clock forward. `now` follows after the commit, at the next `refresh`.
   * @returns what `now('test')` is then, epoch milliseconds
   */
  advance(transaction: Transaction, seconds: number): Promise<number>;
  /** Takes in what was committed, by this process or by another one on the same database. */
  refresh(): Promise<void>;
}

const setting = 'test-clock-offset';
/** What comes after the year 9999 has no ISO 8601 form of four-digit years; a century is left for the clock to run on. */
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
      // Answers may come out of order; the clock never goes back.
      offset = Math.max(offset, Number(row?.value ?? 0));
    },
  };
  await clock.refresh();
  return clock;
}
