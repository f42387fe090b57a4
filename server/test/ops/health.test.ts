/** `/readyz`: when the server is not ready, and the reason that it gives. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { createCheckReady, healthRouter, type Condition } from '../../src/core/ops/health.js';
import { createProblemHandler } from '../../src/core/api/problem.js';
import { startRequest } from '../../src/core/ops/request.js';
import { call } from '../support/call.js';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const used = { requests: 0, calls: 0, failures: 0, limited: 0, durationMs: 0 };
const node = { name: 'node 1', problem: undefined, fault: undefined, isInUse: true, ...used };
const quote = 'the provider says: project 4711 of ada@example.com is out of credits';
const connection = {
  nodes: [node],
  requestsLeft: undefined,
  requestsSpare: undefined,
  assetProblems: [],
};
const limits = { chainLagSeconds: 60, webhookLagSeconds: 30 };
const healthy: Condition = {
  isStopping: () => false,
  outage: () => undefined,
  noteOutage: () => false,
  pingDatabase: () => Promise.resolve(),
  clockSkewMs: () => 2000,
  networks: () => [
    { mode: 'test', network: 'tron', lagMs: 60_000, isOffered: true },
    { mode: 'live', network: 'base', lagMs: 0, isOffered: true },
  ],
  stops: () => [],
  webhookLagMs: () => Promise.resolve(0),
  webhooksIdleMs: () => 0,
};

/** The reply of `/readyz` in a given condition. */
async function ready(change: Partial<Condition>) {
  const app = express();
  app.use(startRequest);
  const condition = { ...healthy, ...change };
  app.use(healthRouter(createCheckReady(condition, limits), condition.networks));
  app.use(createProblemHandler(pino({ level: 'silent' }), () => undefined));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { status, headers, body } = await call(url, 'GET', '/readyz', { headers: { Connection: 'close' } });
  const alive = await call(url, 'GET', '/healthz', { headers: { Connection: 'close' } });
  expect(alive.status).toBe(200);
  server.close();
  return [status, body.message, headers.get('retry-after')];
}

it.each<[string, Partial<Condition>]>([
  ['the server is shutting down', { isStopping: () => true }],
  [
    'the database is out of service: the disk is full',
    { outage: () => ({ reason: 'the disk is full', error: undefined }) },
  ],
  [
    'the database is not responding',
    { pingDatabase: () => Promise.reject(new Error('connect to ada:secret@db failed')) },
  ],
  ["this server's clock is 7200 s ahead of the database's", { clockSkewMs: () => 7_200_000 }],
  ["this server's clock is 3 s behind the database's", { clockSkewMs: () => -3000 }],
  ['nothing can be sold', { stops: () => ['nothing can be sold'] }],
  [
    'tron (test) has not been scanned yet',
    { networks: () => [{ mode: 'test', network: 'tron', lagMs: undefined, isOffered: true }] },
  ],
  [
    'the scan of tron (live) is 61 s behind',
    { networks: () => [{ mode: 'live', network: 'tron', lagMs: 61_000, isOffered: true }] },
  ],
  [
    'the scan of tron (live) is 61 s behind. The scan fails: "chains status" says why. The nodes disagree: "chains status" says on what. node 1 fails (wrong-network). USDT is off: the log says why',
    {
      networks: () => [
        {
          mode: 'live',
          network: 'tron',
          lagMs: 61_000,
          isOffered: true,
          problem: quote,
          disagreement: quote,
          connection: {
            ...connection,
            nodes: [{ ...node, problem: quote, fault: 'wrong-network' }],
            assetProblems: [{ currency: 'USDT', problem: quote }],
          },
        },
      ],
    },
  ],
  [
    'webhook deliveries have stalled and are 31 s late',
    {
      webhooksIdleMs: () => 31_000,
      webhookLagMs: () => Promise.resolve(31_000),
    },
  ],
])('The server is not ready: %s', async (reason, change) => {
  expect(await ready(change)).toEqual([503, `Not ready to serve: ${reason}`, '1']);
});

it.each<[string, Partial<Condition>]>([
  ['all is well', {}],
  ['one receiver hangs while others are delivered to', { webhookLagMs: () => Promise.resolve(1e9) }],
  ['there is nothing to deliver', { webhooksIdleMs: () => 1e9 }],
])('The server is ready: %s', async (_, change) => {
  expect(await ready(change)).toEqual([200, 'Ready', null]);
});

it('/readyz has the lag, the node in use and the problems of each network with nodes, but quotes no provider', async () => {
  const app = express();
  app.use(startRequest);
  const networks: Condition['networks'] = () => [
    { mode: 'test', network: 'tron', lagMs: 0, isOffered: true },
    {
      mode: 'live',
      network: 'base',
      lagMs: 1500,
      isOffered: true,
      connection: {
        nodes: [
          { ...node, isInUse: false, problem: quote, fault: 'failure' },
          { ...node, name: 'node 2' },
        ],
        requestsLeft: 5,
        requestsSpare: 0,
        assetProblems: [{ currency: 'USDC', problem: quote }],
      },
    },
  ];
  app.use(healthRouter(createCheckReady({ ...healthy, networks }, limits), networks));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { body } = await call(url, 'GET', '/readyz', { headers: { Connection: 'close' } });
  server.close();
  const problems = ['node 1 fails (failure)', 'USDC is off: the log says why'];
  expect(body.data).toEqual({
    networks: [{ mode: 'live', network: 'base', isOffered: true, lagSeconds: 1, node: 'node 2', problems }],
  });
});

it('An unexpected error is not shown', async () => {
  const answer = await ready({
    networks: () => {
      throw new Error('sk_live_secret');
    },
  });
  expect(answer).toEqual([503, 'Not ready to serve', '1']);
});

describe.each(engines)('The server on $name', (engine) => {
  let server: TestServer | undefined;
  afterEach(() => server?.stop());

  it('The server is not ready while a network is further behind than allowed', async () => {
    let skew = 0;
    server = await startServer({
      engine,
      env: { READY_CHAIN_LAG_SECONDS: '60' },
      overrides: { realNow: () => Date.now() + skew },
    });
    const { url } = server;
    const status = async () => (await call(url, 'GET', '/readyz')).status;
    await expect.poll(status, { timeout: 15_000 }).toBe(200);
    // The clock jumps ahead, and the next scan catches up. If that was before the request, the clock jumps again.
    await expect
      .poll(
        () => {
          skew += 3_600_000;
          return status();
        },
        { timeout: 15_000 },
      )
      .toBe(503);
    await expect.poll(status, { timeout: 15_000 }).toBe(200);
  });
});
