/** No statement of a server reads more because there are more payments, whether the database has statistics or not. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBusyShop, type BusyShop } from '../support/busy-shop.js';
import type { TestEngine } from '../support/engines.js';
import {
  explainingUrl,
  growing,
  mostRows,
  watchStatements,
  type StatementWatch,
} from '../support/statements.js';
import { liveWholeLife, readingCommands } from '../support/whole-life.js';

/** @param payments at 200,000, a table that grows by one row for every forty payments counts as growing */
export const testGrowingTables = (engine: TestEngine, payments: number): unknown =>
  describe(`among ${payments} payments on ${engine.name}`, () => {
    const isPostgres = engine.name === 'PostgreSQL';
    let busy: BusyShop | undefined;
    let watch: StatementWatch | undefined;
    beforeAll(async () => {
      busy = await openBusyShop(engine, payments);
      const sizes = await busy.sizes();
      // PostgreSQL is right to read a small table whole.
      const small = isPostgres ? mostRows : payments / 130;
      watch = watchStatements((table) => (sizes.get(table) ?? 0) < small);
    }, 900_000);
    afterAll(async () => {
      watch?.stop();
      await busy?.close();
    });

    async function live(): Promise<void> {
      if (!busy || !watch) throw new Error('Nothing was filled');
      watch.take();
      watch.during('start');
      const shop = await busy.start(explainingUrl(busy.databaseUrl));
      const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
      try {
        await liveWholeLife(busy, shop, watch.during);
        const commands = await readingCommands(shop, directory);
        for (const { name, run } of commands.filter(({ why }) => why === undefined)) {
          watch.during(name);
          await run();
        }
        const seen = watch.take();
        expect(seen.length).toBeGreaterThan(300);
        expect(growing(seen, isPostgres)).toEqual([]);
        for (const { name, run } of commands.filter(({ why }) => why !== undefined)) {
          watch.during(name);
          await run();
        }
        const unbounded = watch.take().filter(({ mostReturned }) => mostReturned > mostRows);
        expect(
          unbounded.map(({ sql, first, mostReturned }) => `${first}: ${mostReturned} rows by ${sql}`),
        ).toEqual([]);
      } finally {
        await shop.server.stop();
        await rm(directory, { recursive: true });
      }
    }

    const without = isPostgres ? 'with the statistics of an almost empty database' : 'without statistics';
    it(`a whole life, the jobs and the commands read no more, ${without}`, { timeout: 900_000 }, live);
    it(
      'a whole life, the jobs and the commands read no more, with statistics',
      { timeout: 900_000 },
      async () => {
        await busy?.analyze();
        await live();
      },
    );
  });
