/**
 * A day of traffic: payments from their creation to their webhook, at a steady rate among many open ones. Nothing is
 * lost or doubled, and neither memory nor the slowest replies grow. `npm run soak -- --minutes=60 traffic` runs it for
 * an hour.
 */
import { env } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../src/database.js';
import { call } from './support/call.js';
import { runCommandLine } from './support/command-line.js';
import { bootstrapKeys } from './support/confirmed-work.js';
import { engines } from './support/engines.js';
import { startProcess } from './support/process.js';
import { roundsOf } from './support/rounds.js';
import { startReceiver } from './webhooks/receiver.js';
import { expectBooksInOrder } from './support/violations.js';

const minutes = Number(env['SOAK_MINUTES'] || roundsOf({ usual: 0, soak: 1 })) || 0.25;
/** For an hour, those of the full size; for less time, as many fewer are open. */
const perSecond = 50;
const open = Math.min(10_000, Math.ceil((10_000 * minutes) / 60));
const token = 'scrape-me-0123456789';
/** Node.js itself takes 55; 200 are the aim, and a busy machine has more requests at once. */
const mostMegabytes = 230;

interface Quarter {
  /** The time of each request that a payer waits for, in milliseconds. */
  readonly times: number[];
  /** The time of each sandbox transfer, until a scan has seen it. */
  readonly transferTimes: number[];
  residentMegabytes: number;
}

const percentile = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0;

describe.each(engines)('a day of traffic on $name', (engine) => {
  it(
    `a day of traffic is served with flat memory and times, in ${minutes} minutes`,
    { timeout: 300_000 + minutes * 180_000 },
    async () => {
      const { url: databaseUrl, dispose } = await engine.create();
      onTestFinished(dispose);
      const receiver = await startReceiver();
      onTestFinished(() => receiver.stop());
      const server = await startProcess({
        DATABASE_URL: databaseUrl,
        BLOCK_INTERVAL_MS: '1000',
        PAYMENT_PAY_SECONDS: '86400',
        METRICS_TOKEN: token,
        ...bootstrapKeys,
      });
      onTestFinished(() => server.kill());
      const command = async (...args: string[]) => {
        const { exitCode, stdout, stderr } = await runCommandLine(databaseUrl, [...args, '--json']);
        expect(exitCode, stderr).toBe(0);
        return JSON.parse(stdout) as unknown;
      };
      const [account] = (await command('merchants', 'list')) as { id: string }[];
      await command('merchants', 'update', account?.id ?? '', '--webhook-url', receiver.url);

      let times: number[] = [];
      let transferTimes: number[] = [];
      const ask = async (method: string, path: string, body?: object) => {
        const startedAt = performance.now();
        const answer = await call(server.url, method, path, {
          key: bootstrapKeys.BOOTSTRAP_SECRET_KEY,
          body,
        });
        // The sandbox is the chain, and replies only once its transfer was scanned: no payer waits for that.
        (path.startsWith('/sandbox/') ? transferTimes : times).push(performance.now() - startedAt);
        expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(200);
        return answer.body.data;
      };
      const lock = async () => {
        const { payment } = await ask('POST', '/v1/payments/checkout', { amount: 5000, baseCurrency: 'NGN' });
        const { id } = payment as { id: string };
        await ask('PATCH', `/v1/payments/${id}/currency/set/USDT/tron`);
        const { amount, addressInformation } = await ask('PATCH', `/v1/payments/${id}/currency/lock`);
        return { id, amount, address: (addressInformation as { address: string }).address };
      };
      const delivered = { ids: new Set<string>(), subjects: new Set<string>(), count: 0 };
      /** Forgets all else: an hour's events take a gigabyte, and collecting that would be measured as waiting. */
      const drain = () => {
        for (const { id, event } of receiver.received.splice(0)) {
          delivered.count += 1;
          if (event.type !== 'payment.success') continue;
          delivered.ids.add(id);
          delivered.subjects.add((event.data as { id: string }).id);
        }
      };
      const paid: string[] = [];
      const buy = async () => {
        const { id, amount, address } = await lock();
        await ask('POST', '/sandbox/transfers', { network: 'tron', currency: 'USDT', address, amount });
        paid.push(id);
      };
      const residentMegabytes = async () => {
        const reply = await fetch(`${server.url}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
        return Number(/^process_resident_memory_bytes (\d+)/m.exec(await reply.text())?.[1]) / 1e6;
      };

      for (let made = 0; made < open; made += 10) await Promise.all(Array.from({ length: 10 }, lock));
      times = [];
      const quarters: Quarter[] = [];
      const startedAt = Date.now();
      const end = startedAt + minutes * 60_000;
      const running = new Set<Promise<void>>();
      let next = startedAt;
      while (Date.now() < end) {
        const index = Math.floor((4 * (Date.now() - startedAt)) / (end - startedAt));
        if (quarters.length <= index) {
          const last = quarters.at(-1);
          if (last) last.residentMegabytes = await residentMegabytes();
          times = [];
          transferTimes = [];
          quarters.push({ times, transferTimes, residentMegabytes: 0 });
        }
        // A machine that is too slow for the rate does as many as it can, and says so below.
        while (running.size >= 32) await Promise.race(running);
        drain();
        const one = buy().finally(() => running.delete(one));
        running.add(one);
        next = Math.max(next + 1000 / perSecond, Date.now() - 1000);
        if (next > Date.now()) await delay(next - Date.now());
      }
      await Promise.all(running);
      const seconds = (Date.now() - startedAt) / 1000;
      const last = quarters.at(-1);
      if (last) last.residentMegabytes = await residentMegabytes();

      const subjects = () => {
        drain();
        return delivered.subjects;
      };
      const figures = quarters.map(
        (quarter) =>
          `p50 ${percentile(quarter.times, 0.5).toFixed(1)} p99 ${percentile(quarter.times, 0.99).toFixed(0)} ms, ` +
          `transfers seen p50 ${percentile(quarter.transferTimes, 0.5).toFixed(0)} p99 ${percentile(quarter.transferTimes, 0.99).toFixed(0)} ms, ` +
          `${quarter.residentMegabytes.toFixed(0)} MB`,
      );
      console.log(
        `traffic on ${engine.name}, ${minutes} min, ${open} open: ${paid.length} paid, ${(paid.length / seconds).toFixed(1)} a second, ` +
          `${paid.length - subjects().size} webhooks not there yet; by quarter: ${figures.join(' | ')}`,
      );
      // A machine that is too slow for the rate delivers the rest afterwards.
      const restMs = 120_000 + minutes * 30_000;
      await expect.poll(() => subjects().size, { timeout: restMs, interval: 1000 }).toBe(paid.length);
      expect([...subjects()].sort()).toEqual([...paid].sort());
      // No event of a receiver that answers is delivered under two ids.
      expect(delivered.ids.size).toBe(paid.length);
      expect(await server.stop()).toBe(0);
      const database = await openDatabase(databaseUrl);
      onTestFinished(() => database.close());
      await expectBooksInOrder(database);

      console.log(`${delivered.count} webhooks; lost 0, doubled 0, ledger in order`);
      // In less time than this, the heap has not settled, and other work on the machine decides.
      if (minutes < 10) return;
      const [, second] = quarters;
      expect(last?.residentMegabytes ?? 0).toBeLessThan(1.3 * (second?.residentMegabytes ?? 0));
      expect(last?.residentMegabytes ?? 0).toBeLessThan(mostMegabytes);
      expect(percentile(last?.times ?? [], 0.99)).toBeLessThan(2 * percentile(second?.times ?? [], 0.99));
    },
  );
});
