/** The clock: the server's time, and per merchant an offset on it in test mode, which the sandbox moves forward. */
import type { Clock } from '../../shared/clock.js';
import type { Job } from '../../shared/feature.js';
import type { Database } from '../../db/database.js';
import { forUpdate } from '../../db/locks.js';
import { invalidField } from '../../shared/problem.js';
import type { Transaction } from '../../db/engine.js';

export type TestClock = Awaited<ReturnType<typeof createTestClock>>;

/** The longest time that a test clock can be ahead of real time: ten years. */
export const maxOffsetSeconds = 10 * 366 * 86_400;

/** @param real the server's time, epoch milliseconds */
export async function createTestClock(database: Database, real: () => number = Date.now) {
  let offsets: ReadonlyMap<string, { offsetMs: number; movedAt: number }> = new Map();
  let lastRead = Promise.resolve();

  async function read(): Promise<void> {
    const rows = await database.reader.selectFrom('test_clocks').selectAll().execute();
    offsets = new Map(
      rows.map((row) => [row.merchant_id, { offsetMs: row.offset_ms, movedAt: row.moved_at }]),
    );
  }

  const times: Clock = {
    real,
    now: ({ mode, merchantId }) => real() + (mode === 'test' ? (offsets.get(merchantId)?.offsetMs ?? 0) : 0),

    at({ mode, merchantId }, realTime) {
      const offset = mode === 'test' ? offsets.get(merchantId) : undefined;
      if (!offset) return realTime;
      return realTime < offset.movedAt ? Number.NEGATIVE_INFINITY : realTime + offset.offsetMs;
    },
  };
  const clock = {
    ...times,

    /**
     * Moves the test clock of one merchant forward. `now` changes at the first `refresh` after the commit.
     * Problem: `validation_error`.
     * @returns the new time of the merchant's clock, epoch milliseconds
     */
    async advance(transaction: Transaction, merchantId: string, seconds: number): Promise<number> {
      await transaction
        .insertInto('test_clocks')
        .values({ merchant_id: merchantId, offset_ms: 0, moved_at: 0 })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const row = await transaction
        .selectFrom('test_clocks')
        .select('offset_ms')
        .where('merchant_id', '=', merchantId)
        .$call(forUpdate(transaction))
        .executeTakeFirstOrThrow();
      const offsetMs = row.offset_ms + seconds * 1000;
      if (offsetMs > maxOffsetSeconds * 1000) {
        const left = maxOffsetSeconds - Math.ceil(row.offset_ms / 1000);
        throw invalidField(
          'advanceSeconds',
          `A test clock can be at most ten years ahead: this one can be moved ${left} s further`,
        );
      }
      const now = real();
      // Advancing by 0 reads the clock.
      if (seconds > 0) {
        await transaction
          .updateTable('test_clocks')
          .set({ offset_ms: offsetMs, moved_at: now })
          .where('merchant_id', '=', merchantId)
          .execute();
      }
      return now + offsetMs;
    },

    /** Puts a merchant's test clock back to real time. Only right if none of its test data is left. */
    async reset(transaction: Transaction, merchantId: string): Promise<void> {
      await transaction.deleteFrom('test_clocks').where('merchant_id', '=', merchantId).execute();
    },

    /** Reads the offsets that this process, or another one on the same database, has committed. */
    refresh(): Promise<void> {
      // One read at a time: an older result must not replace a newer one, because a clock never goes back.
      lastRead = lastRead.catch(() => undefined).then(read);
      return lastRead;
    },

    jobs: (): readonly Job[] => [{ name: 'test clocks', intervalMs: 1000, run: () => clock.refresh() }],
  };
  await clock.refresh();
  return clock;
}
