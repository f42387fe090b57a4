/** The seed of test mode's addresses: the server's own, kept with the data, one for all replicas. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureTestSeed, readTestSeed } from '../../src/core/addresses/test-seed.js';
import type { Database } from '../../src/core/db/database.js';
import { openDatabase } from '../../src/database.js';
import { enginesOfQuick, type TestDatabase } from '../support/engines.js';
import { createRecords } from '../support/records.js';
import { startServer } from '../support/server.js';

describe.each(enginesOfQuick)('The test seed on $name', (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    testDatabase = await engine.create();
    database = await openDatabase(testDatabase.url);
  });
  afterEach(async () => {
    await database.close();
    await testDatabase.dispose();
  });

  it('The test seed is made once, and is the same for servers that start at once', async () => {
    expect(await readTestSeed(database.reader)).toBeUndefined();
    const seeds = await Promise.all(Array.from({ length: 5 }, () => ensureTestSeed(database)));
    const texts = new Set(seeds.map((seed) => Buffer.from(seed).toString('hex')));
    expect(texts.size).toBe(1);
    expect([...texts][0]).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe.each(enginesOfQuick)('Test addresses on $name', (engine) => {
  it('Test addresses differ between servers, and are not those of the published mnemonic', async () => {
    const addressOf = async () => {
      const server = await startServer({ engine });
      const { address } = await createRecords(server).lockedPayment();
      await server.stop();
      return address;
    };
    const [first, second] = [await addressOf(), await addressOf()];
    expect(first).toMatch(/^T/);
    expect(second).not.toBe(first);
    // m/44'/195'/0'/0/0 of "abandon … about".
    expect([first, second]).not.toContain('TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH');
  });
});
