/**
 * Sends malformed requests from seeds to every route, API or not, and hostile values to every endpoint: none gets a 5xx or costs
 * much, and nothing of them is in the log.
 */
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../src/core/log.js';
import { signIn } from './support/browser.js';
import { call } from './support/call.js';
import { enginesOfSoak } from './support/engines.js';
import { canary, malformedRequest, type KnownValues, type MalformedRequest } from './support/malformed.js';
import { costOf, pathologicalRequests, statusOf } from './support/pathological.js';
import { createRecords } from './support/records.js';
import { roundsOf } from './support/rounds.js';
import { startServer, type TestServer } from './support/server.js';

const count = roundsOf({ usual: 200, soak: 4000 });
/** The number of requests with hostile values that are sent: all of them in a soak. */
const hostileCount = roundsOf({ usual: 147, soak: 10_000 });
const atOnce = 16;
/** The most that one request may cost, with everything that the process does meanwhile. One that takes the square of its length costs seconds. */
const mostCpuMs = 200;
/** A seed that was random once. `MALFORMED_SEED` tries another one. */
const firstSeed = Number(process.env['MALFORMED_SEED'] ?? 20_260_101);

/** All that the server sent, until it closed the connection; undefined if it sent nothing in time. */
function exchange(url: string, { bytes, then }: MalformedRequest): Promise<string | undefined> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => {
      if (then === 'end') socket.end(bytes);
      else socket.write(bytes);
      if (then === 'destroy') setTimeout(() => socket.destroy(), 2);
    });
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    // Long enough for a machine on which other work is running.
    socket.setTimeout(30_000, () => {
      resolve(undefined);
      socket.destroy();
    });
    // The server may close while this side still sends.
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(received));
  });
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapMegabytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 1e6;
}

describe.each(enginesOfSoak)('On $name', (engine) => {
  const lines: string[] = [];
  let server: TestServer;
  let known: KnownValues;
  beforeAll(async () => {
    server = await startServer({
      engine,
      log: createLog('info', { write: (line) => void lines.push(line) }),
      env: { METRICS_TOKEN: 'scrape-me-0123456789' },
    });
    const { secretKey, publicKey } = server;
    known = { secretKey, publicKey, paymentId: await createRecords(server).payment() };
  });
  afterAll(() => server.stop());

  it(
    `${count} malformed requests get no 5xx, and leave nothing in the log, cost little and take no memory`,
    { timeout: 60_000 + count * 50 },
    async () => {
      await expect
        .poll(async () => (await fetch(`${server.url}/readyz`)).status, { timeout: 10_000 })
        .toBe(200);
      const failures: string[] = [];
      const statuses = new Map<string, number>();
      const tookMs: { seed: number; ms: number }[] = [];
      let heapAtFirst = 0;
      let next = 0;
      const worker = async () => {
        while (next < count) {
          const seed = firstSeed + next++;
          const request = malformedRequest(seed, known);
          const startedAt = performance.now();
          const received = await exchange(server.url, request);
          // One that is not answered only waits.
          tookMs.push({ seed, ms: received ? performance.now() - startedAt : 0 });
          // By then, everything that is kept of a route or a caller is there.
          if (tookMs.length === Math.floor(count / 4)) heapAtFirst = heapMegabytes();
          const all = [...(received ?? '').matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) =>
            String(status),
          );
          const status = received === undefined ? 'no reply' : (all.at(-1) ?? 'closed');
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (received === undefined || all.some((one) => one >= '500')) {
            failures.push(
              `seed ${seed}: ${request.bytes.toString('latin1', 0, 300)}\n→ ${received?.slice(0, 600) ?? 'no reply'}`,
            );
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      const slowest = tookMs.sort((a, b) => b.ms - a.ms).slice(0, 10);
      const costs: number[] = [];
      for (const { seed } of slowest) {
        const { ms } = await costOf(() => exchange(server.url, malformedRequest(seed, known)), mostCpuMs);
        costs.push(ms);
        expect(ms, `seed ${seed}`).toBeLessThan(mostCpuMs);
      }
      tookMs.length = 0;
      const grownBy = heapMegabytes() - heapAtFirst;
      // Logged lines are kept by the test itself.
      expect(grownBy).toBeLessThan(20);
      if (count > 1000) {
        const cpu = Math.max(...costs).toFixed(1);
        console.log(
          `${engine.name}: heap ${grownBy.toFixed(1)} MB more, dearest request ${cpu} ms of processor`,
        );
      }
      if (count > 1000) console.log(engine.name, count, Object.fromEntries([...statuses].sort()));
      expect(failures.slice(0, 5)).toEqual([]);
      // The requests reach the routes, and are not all refused at the door.
      for (const status of ['200', '400', '401', '404']) expect(statuses.get(status)).toBeGreaterThan(0);
      expect(lines.filter((line) => line.includes(canary))).toEqual([]);
      expect(lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
      expect((await call(server.url, 'GET', '/healthz')).status).toBe(200);
      expect((await server.api('GET', `/v1/payments/${known.paymentId}`)).status).toBe(200);
    },
  );

  it(
    'no hostile value takes more than 200 ms of processor, or gets a 5xx, and nothing is logged as an error',
    { timeout: 600_000 },
    async () => {
      const records = createRecords(server);
      const paid = await records.paidPayment();
      const { cookie } = await signIn(server, 'owner');
      const ids = {
        payment_id: paid,
        transaction_id: paid,
        customer_id: (await records.customer()).id,
        currency: 'usdt',
        network: 'tron',
      };
      const all = [...pathologicalRequests({ secretKey: server.secretKey, cookie, ids })];
      expect(all.length).toBeGreaterThanOrEqual(2490);
      const every = Math.max(1, Math.floor(all.length / hostileCount));
      const chosen = all.filter((_, index) => index % every === 0);
      // The first requests compile schemas and statements.
      for (const one of chosen.slice(0, 200)) await statusOf(server.url, one);
      const costs: { name: string; status: number; ms: number }[] = [];
      for (const one of chosen) {
        const { reply, ms } = await costOf(() => statusOf(server.url, one), mostCpuMs);
        costs.push({ name: one.name, status: reply, ms });
      }
      costs.sort((a, b) => b.ms - a.ms);
      if (every === 1) {
        const slowest = costs
          .slice(0, 10)
          .map(({ name, status, ms }) => `${ms.toFixed(1)} ms, ${status}: ${name}`);
        console.log(`${engine.name}: ${all.length} requests, the slowest:\n${slowest.join('\n')}`);
      }
      expect(costs.filter(({ ms }) => ms > mostCpuMs)).toEqual([]);
      expect(costs.filter(({ status }) => status === 0 || status >= 500)).toEqual([]);
      // They reach the endpoints, and are not all refused at the door.
      const countOf = (status: number) => costs.filter((cost) => cost.status === status).length;
      for (const status of [200, 400, 401, 404]) expect(countOf(status), String(status)).toBeGreaterThan(0);
      expect(countOf(400)).toBeGreaterThan(countOf(401));
      expect(lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
    },
  );
});
