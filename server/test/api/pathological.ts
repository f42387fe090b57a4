/** The fuzz of the whole contract with hostile values: none costs much processor time or gets a 5xx. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signIn } from '../support/browser.js';
import type { TestEngine } from '../support/engines.js';
import { costOf, pathologicalRequests, statusOf, type Known } from '../support/pathological.js';
import { createRecords } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

/** A request that takes the square of its length costs seconds. */
const mostCpuMs = 200;

/** @param every of how many requests one is sent */
export const testPathological = (engine: TestEngine, every: number): unknown =>
  describe(`On ${engine.name}`, () => {
    let server: TestServer;
    let known: Known;
    beforeAll(async () => {
      server = await startServer({ engine });
      const records = createRecords(server);
      const payment = await records.paidPayment();
      const customer = (await records.customer()).id;
      const ids = {
        payment_id: payment,
        transaction_id: payment,
        customer_id: customer,
        currency: 'usdt',
        network: 'tron',
      };
      known = { secretKey: server.secretKey, cookie: (await signIn(server, 'owner')).cookie, ids };
    });
    afterAll(() => server.stop());

    it(
      'no request of the fuzz takes more than 200 ms of processor, or gets a 5xx',
      { timeout: 600_000 },
      async () => {
        const all = [...pathologicalRequests(known)];
        expect(all.length).toBeGreaterThanOrEqual(2490);
        const chosen = all.filter((_, index) => index % every === 0);
        // The first requests compile schemas and statements.
        for (const one of chosen.slice(0, 200)) await statusOf(server.url, one);
        const costs: { name: string; status: number; ms: number }[] = [];
        for (const one of chosen)
          costs.push({ name: one.name, ...(await costOf(server.url, one, mostCpuMs)) });
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
        const count = (status: number) => costs.filter((cost) => cost.status === status).length;
        for (const status of [200, 400, 401, 404]) expect(count(status), String(status)).toBeGreaterThan(0);
        expect(count(400)).toBeGreaterThan(count(401));
      },
    );
  });
