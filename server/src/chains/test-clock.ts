/** The clock of both modes: real time, and in test mode an offset that the sandbox moves forward. */
import type { Clock } from '../clock.js';
import type { Database, Transaction } from '../db/database.js';
import { forUpdate } from '../db/locks.js';
import { invalidField } from '../problems.js';

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
export async function openTestClock(
  database: Database,
  realNow: () => number = Date.now,
): Promise<TestClock> {
  await database.write((transaction) =>
    transaction
      .insertInto('settings')
      .values({ name: setting, value: '0' })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  );

  let offset = 0;
  const clock: TestClock = {
    now: (mode) => realNow() + (mode === 'test' ? offset : 0),

    async advance(transaction, seconds) {
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
        .executeTakeFirstOrThrow();
      // Answers may come out of order; the clock never goes back.
      offset = Math.max(offset, Number(row.value));
    },
  };
  await clock.refresh();
  return clock;
}
