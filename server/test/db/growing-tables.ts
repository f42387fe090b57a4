/** No statement of a server reads more because there are more payments, whether the database has statistics or not. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
    it(
      `a whole life, the jobs and the commands do not read more as tables grow, ${without}`,
      { timeout: 900_000 },
      live,
    );
    it(
      'a whole life, the jobs and the commands do not read more as tables grow, with statistics',
      { timeout: 900_000 },
      async () => {
        await busy?.analyze();
        await live();
      },
    );

    it(
      'the copy, the backup and the rotation of the data key read in parts, and keep nothing',
      { timeout: 1_800_000 },
      async () => {
        if (!busy) throw new Error('Nothing was filled');
        watch?.stop();
        watch = watchStatements(() => true, false);
        const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
        const keys = join(directory, 'data.key');
        await writeFile(keys, randomBytes(32).toString('base64'), { mode: 0o600 });
        // A rotation makes a million changes: a sample of them is enough to see how they are planned.
        const url = explainingUrl(busy.databaseUrl, ['auto_explain.sample_rate=0.01']);
        const shop = await busy.start(url, { DATA_KEY_FILE: keys });
        const target = await engine.createEmpty();
        try {
          const backup = isPostgres ? [] : [`database backup ${join(directory, 'backup.db')}`];
          const copy = `database copy --while-running --to ${target.url}`;
          for (const line of [...backup, copy, 'data-key rotate']) {
            watch.during(line);
            const { result, peak } = await watchMemory(() => shop.command(line));
            console.log(`${engine.name}, ${line.split(' ', 2).join(' ')}: ${peak} MB`);
            expect(peak, line).toBeLessThan(mostMegabytes);
            // The copied payments are not in the balances, so the check of the copy's ledger has something to say.
            const { tables = [] } = result as { readonly tables?: readonly Copied[] };
            expect(tables.filter((table) => table.source !== table.target)).toEqual([]);
          }
          expect(shop.progress.length).toBeGreaterThan(20);
          const unbounded = watch.take().filter(({ mostReturned }) => mostReturned > mostRows);
          expect(unbounded.map(({ sql, mostReturned }) => `${mostReturned} rows by ${sql}`)).toEqual([]);
        } finally {
          await shop.server.stop();
          await target.dispose();
          await rm(directory, { recursive: true });
        }
      },
    );
  });

interface Copied {
  readonly source: number;
  readonly target: number;
}

/** All rows of the tables, as objects, take several times as much. */
const mostMegabytes = 400;

/** @returns the most memory that was in use meanwhile, above that before */
async function watchMemory(work: () => Promise<unknown>): Promise<{ result: unknown; peak: number }> {
  const used = () => process.memoryUsage().heapUsed / 1e6;
  const before = used();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, used())), 20);
  try {
    const result = await work();
    return { result, peak: Math.round(most - before) };
  } finally {
    clearInterval(timer);
  }
}
