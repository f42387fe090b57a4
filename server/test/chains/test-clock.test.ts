/** The clock: whose it is, when a move becomes visible, that it never goes back, and how far it goes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createTestClock,
  maxOffsetSeconds,
  type TestClock,
} from '../../src/core/chains/simulated/test-clock.js';
import { type Database } from '../../src/core/db/database.js';
import { enginesOfQuick, type TestDatabase } from '../support/engines.js';
import { openDatabase } from '../../src/database.js';

const start = Date.UTC(2026, 0, 1);
const mine = { merchantId: 'MINE', mode: 'test' } as const;
const theirs = { merchantId: 'THEIRS', mode: 'test' } as const;
const live = { merchantId: 'MINE', mode: 'live' } as const;

describe.each(enginesOfQuick)('The clock on $name', (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let real: number;
  let clock: TestClock;
  beforeEach(async () => {
    real = start;
    testDatabase = await engine.create();
    database = await openDatabase(testDatabase.url);
    clock = await createTestClock(database, () => real);
  });
  afterEach(async () => {
    await database.close();
    await testDatabase.dispose();
  });

  const advance = (seconds: number, merchantId = 'MINE') =>
    database.write((transaction) => clock.advance(transaction, merchantId, seconds));

  it('The clock shows real time at first', () => {
    expect([clock.real(), clock.now(live), clock.now(mine)]).toEqual([start, start, start]);
  });

  it("The clock moves forward with each step, in test mode only, and does not move other merchants' clocks", async () => {
    expect(await advance(1800)).toBe(start + 1_800_000);
    expect(clock.now(mine)).toBe(start);
    await clock.refresh();
    expect(clock.now(mine)).toBe(start + 1_800_000);
    await Promise.all(Array.from({ length: 5 }, () => advance(60)));
    await advance(5, 'THEIRS');
    await clock.refresh();
    expect(clock.now(mine)).toBe(start + 2_100_000);
    expect([clock.now(theirs), clock.now(live), clock.real()]).toEqual([start + 5000, start, start]);
  });

  it('The clock does not move if the change is rolled back', async () => {
    const failing = database.write(async (transaction) => {
      await clock.advance(transaction, 'MINE', 60);
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await clock.refresh();
    expect(clock.now(mine)).toBe(start);
  });

  it('The clock moves in another process after a refresh, and in one that starts later', async () => {
    const other = await createTestClock(database, () => real);
    await advance(60);
    expect(other.now(mine)).toBe(start);
    await other.refresh();
    expect(other.now(mine)).toBe(start + 60_000);
    expect((await createTestClock(database, () => real)).now(mine)).toBe(start + 60_000);
  });

  it('The clock is at most ten years ahead, and a refusal says how much is left', async () => {
    await advance(maxOffsetSeconds - 30);
    await expect(advance(31)).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('30 s further') as string,
      details: { param: 'advanceSeconds' },
    });
    expect(await advance(30)).toBe(start + maxOffsetSeconds * 1000);
    expect(await advance(0)).toBe(start + maxOffsetSeconds * 1000);
  });

  it('The clock converts a real time, but not one from before the last move', async () => {
    expect([clock.at(mine, start - 1), clock.at(live, 5)]).toEqual([start - 1, 5]);
    await advance(60);
    await clock.refresh();
    real += 1000;
    expect(clock.at(mine, start + 500)).toBe(start + 60_500);
    expect(clock.at(mine, start - 1)).toBe(Number.NEGATIVE_INFINITY);
    expect([clock.at(live, start - 1), clock.at(theirs, start - 1)]).toEqual([start - 1, start - 1]);
  });
});
