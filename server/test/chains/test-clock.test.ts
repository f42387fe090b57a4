/** The movable clock: in which mode it moves, when that becomes visible, and that it survives a restart. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestClock, type TestClock } from '../../src/chains/simulated/test-clock.js';
import { type Database } from '../../src/db/database.js';
import { Problem } from '../../src/shared/problem.js';
import { engines, type TestDatabase } from '../support/engines.js';
import { openDatabase } from '../../src/db/open.js';

const real = Date.UTC(2026, 0, 1);

describe.each(engines)('The clock on $name', (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let clock: TestClock;
  beforeEach(async () => {
    testDatabase = await engine.create();
    database = await openDatabase(testDatabase.url);
    clock = await createTestClock(database, () => real);
  });
  afterEach(async () => {
    await database.close();
    await testDatabase.dispose();
  });

  const advance = (seconds: number) => database.write((transaction) => clock.advance(transaction, seconds));

  it('Shows real time at first', () => {
    expect([clock.now('live'), clock.now('test')]).toEqual([real, real]);
  });

  it('Moves forward with each step, in test mode only', async () => {
    expect(await advance(1800)).toBe(real + 1_800_000);
    expect(clock.now('test')).toBe(real);
    await clock.refresh();
    expect([clock.now('live'), clock.now('test')]).toEqual([real, real + 1_800_000]);
    await Promise.all(Array.from({ length: 5 }, () => advance(60)));
    await clock.refresh();
    expect(clock.now('test')).toBe(real + 2_100_000);
  });

  it('Does not move if the change is rolled back', async () => {
    const failing = database.write(async (transaction) => {
      await clock.advance(transaction, 60);
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await clock.refresh();
    expect(clock.now('test')).toBe(real);
  });

  it('Moves in another process after a refresh, and in one that starts later', async () => {
    const other = await createTestClock(database, () => real);
    await advance(60);
    expect(other.now('test')).toBe(real);
    await other.refresh();
    expect(other.now('test')).toBe(real + 60_000);
    expect((await createTestClock(database, () => real)).now('test')).toBe(real + 60_000);
  });

  it('Cannot be moved close to the year 10000, so that it can run on', async () => {
    const tenYears = 10 * 366 * 86_400;
    let reached = real;
    const advanceForever = async () => {
      for (;;) reached = await database.write((transaction) => clock.advance(transaction, tenYears));
    };
    await expect(advanceForever()).rejects.toThrow(Problem);
    await expect(advance(tenYears)).rejects.toMatchObject({
      code: 'validation_error',
      details: { param: 'advanceSeconds' },
    });
    expect(new Date(reached).getUTCFullYear()).toBeGreaterThan(9850);
    expect(new Date(reached).getUTCFullYear()).toBeLessThan(9900);
  });
});
