/** Two servers on one PostgreSQL that keep the books at the same time, and are killed in between: everything is kept once, and right. */
import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Booking } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { books as booksModule } from '../../src/modules/books/module.js';
import { createLedger, moved } from '../../src/core/ledger/ledger.js';
import { newId } from '../../src/core/shared/ids.js';
import { exportBooks } from '../support/books.js';
import { call } from '../support/call.js';
import { engines } from '../support/engines.js';
import { startProcess, type ServerProcess } from '../support/process.js';
import { openSteppedShop } from '../support/stepped-shop.js';
import { openLedgerShop } from './ledger-shop.js';

const [postgres] = engines.filter(({ name }) => name === 'PostgreSQL');
const worker = fileURLToPath(new URL('jobs-worker.mjs', import.meta.url));
const dayMs = 86_400_000;
const days = 200;
const perDay = 3;
const rounds = 4;

describe.skipIf(!postgres)('The books of two servers', () => {
  it('Two servers keep each rate and each day once, no matter which is killed, and show the same books', async () => {
    if (!postgres) return;
    const books = await openLedgerShop(postgres);
    const { shop, live } = books;
    const servers: ServerProcess[] = [];
    const workers: ChildProcess[] = [];
    onTestFinished(async () => {
      for (const server of servers) await server.kill();
      await shop.close();
    });
    const { database } = shop;
    const { key } = await database.write((transaction) =>
      shop.app.keys.create(transaction, { ...live, kind: 'secret' }),
    );
    // As after an upgrade: postings of months, more than are named at once, whose merchants nobody has named yet, and one of this minute.
    const today = Math.floor(Date.now() / dayMs);
    for (let day = days; day >= 0; day -= 1) {
      const at = day === 0 ? Date.now() : (today - day) * dayMs + 1000;
      for (let time = 0; time < (day === 0 ? 1 : perDay); time += 1)
        await books.receive(at, BigInt(1_000_000 + day));
    }
    await database.write((transaction) =>
      sql`update ledger_postings set merchant_id = null`.execute(transaction),
    );
    const env = {
      DATABASE_URL: shop.databaseUrl,
      BOOTSTRAP_PUBLIC_KEY: `pk_test_${randomBytes(32).toString('base64url')}`,
      BOOTSTRAP_SECRET_KEY: `sk_test_${randomBytes(32).toString('base64url')}`,
    };
    const kept = () =>
      database.reader
        .selectFrom('book_balances')
        .select(['at', 'currency', 'total'])
        .where('merchant_id', '=', live.merchantId)
        .orderBy('at')
        .execute();
    const start = async (index: number) => {
      const child = fork(worker, { env: { ...env, PATH: process.env['PATH'] }, execArgv: [] });
      workers[index] = child;
      await once(child, 'message');
    };
    const kill = async (index: number) => {
      const child = workers[index];
      if (child?.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    };
    onTestFinished(async () => {
      for (const index of workers.keys()) await kill(index);
    });
    await Promise.all([start(0), start(1)]);
    const counts: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await delay(randomInt(400));
      await kill(round % 2);
      counts.push((await kept()).length);
      await start(round % 2);
    }
    await vi.waitFor(async () => expect(await kept()).toHaveLength(days), { timeout: 60_000, interval: 200 });

    let total = 0n;
    const expected = Array.from({ length: days }, (_, index) => {
      const day = days - index;
      total += BigInt(perDay * (1_000_000 + day));
      return { at: (today - day + 1) * dayMs, currency: 'USDT', total: total.toString() };
    });
    expect(await kept(), `kept when a server was killed: ${counts.join(', ')}`).toEqual(expected);
    const rates = await database.reader.selectFrom('book_rates').select('at').distinct().execute();
    expect(rates).toHaveLength(1);
    const unnamed = await database.reader
      .selectFrom('ledger_postings')
      .select('id')
      .where('merchant_id', 'is', null)
      .execute();
    expect(unnamed).toEqual([]);

    const day = (ago: number) => new Date((today - ago) * dayMs).toISOString().slice(0, 10);
    const period = { from: day(days), to: day(-1) };
    async function read({ url }: ServerProcess): Promise<Booking[]> {
      const found: Booking[] = [];
      let cursor: string | undefined;
      do {
        const query = new URLSearchParams({
          ...period,
          zone: 'UTC',
          limit: '100',
          ...(cursor && { cursor }),
        });
        const { status, body } = await call(url, 'GET', `/v1/books?${query}`, { key });
        expect(status, JSON.stringify(body)).toBe(200);
        const page = body.data as { bookings: Booking[]; next?: string };
        found.push(...page.bookings);
        cursor = page.next;
      } while (cursor !== undefined);
      return found;
    }
    servers.push(...(await Promise.all([startProcess(env), startProcess(env)])));
    const lists = await Promise.all(servers.map(read));
    expect(lists[0]).toHaveLength(days * perDay + 1);
    expect(lists[1]).toEqual(lists[0]);
    const options = `--from ${period.from} --to ${period.to} --format json`;
    const { text, logged, hasFailed } = await exportBooks(shop, live, options);
    expect(hasFailed, logged).toBe(false);
    expect(JSON.parse(text)).toEqual(lists[0]);
  }, 180_000);
});

describe.each(engines)('Two runs of a job at once, on $name', (engine) => {
  it('Jobs that run at once keep the rates of a moment once', async () => {
    let tick = Date.UTC(2026, 0, 1, 12);
    // As two servers do, they start a moment apart.
    const latest = () => ({ numerator: 1n, denominator: 1n, source: 'test', at: tick });
    const shop = await openSteppedShop(engine, { realNow: () => (tick += 1), rates: { latest } });
    onTestFinished(() => shop.close());
    const { merchantId } = await shop.merchant();
    const ledger = createLedger(newId, { now: () => tick, real: () => tick });
    const rates = booksModule
      .rules(shop.app)
      .jobs()
      .filter(({ name }) => name === 'book-rates');
    const { signal } = new AbortController();
    const kept = async () =>
      (await shop.database.reader.selectFrom('book_rates').select('at').distinct().execute()).length;
    for (let round = 1; round <= 5; round += 1) {
      const entries = moved(
        { kind: 'custody', network: 'tron', merchantId },
        { kind: 'unallocated', merchantId },
        1_000_000n,
      );
      await shop.database.write((transaction) =>
        ledger.post(transaction, { key: `receipt:${newId()}`, mode: 'test', currency: 'USDT', entries }),
      );
      await Promise.all([...rates, ...rates, ...rates].map((job) => job.run(signal)));
      expect(await kept()).toBe(round);
      tick += 6 * 60_000;
    }
  });
});
