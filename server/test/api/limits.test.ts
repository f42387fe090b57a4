/** Rate limits: how many requests a caller may make before getting 429. */
import { api, type Endpoint } from 'crypto-checkout/contract';
import type express from 'express';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLimits } from '../../src/core/api/limits.js';
import { Problem } from '../../src/core/shared/problem.js';
import type { Caller } from '../../src/core/shared/scope.js';
import { call, type Answer } from '../support/call.js';
import { enginesOfQuick } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { startTable, type TableServer } from '../support/table-server.js';

const limits = {
  requestsPerSecondPerIp: 1000,
  failedKeysPerSecondPerIp: 1000,
  pagesPerSecondPerIp: 1000,
  secretPerSecond: 2,
  publicPerSecond: 3,
  paymentsPerMinutePerIp: 2,
  paymentsPerMinutePerKey: 600,
  paymentChangesPerHour: 60,
  tokensPerMinutePerIp: 10,
  storedMegabytesPerDay: 1000,
  testFactor: 2,
  sandboxPerSecond: 20,
};
const table = { payments: { create: api.payments.create, cancel: api.payments.cancel } };

let server: TableServer | undefined;
afterEach(() => {
  vi.useRealTimers();
  return server?.stop();
});

/** Keeps all requests in one window of a limit, however long a busy machine takes. Call it when the server runs. */
const stopTime = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });

async function start(change: Partial<typeof limits> = {}, message = 'Payment cancelled') {
  server = await startTable({
    table,
    handlers: {
      payments: {
        // Never called: the requests have no amount, so validation refuses them.
        create: () => Promise.reject(new Error('The handler must not be called')),
        cancel: () => Promise.resolve({ message, data: undefined }),
      },
    },
    limits: { ...limits, ...change },
  });
  return server;
}

/** Sends `count` requests, one after the other. */
async function sendMany(count: number, key: string, method = 'PATCH', path = '/v1/payments/P1/cancel') {
  const { url } = server ?? (await start());
  const answers = [];
  for (let index = 0; index < count; index += 1) answers.push(await call(url, method, path, { key }));
  return answers;
}

const ok = (count: number) => Array.from({ length: count }, () => 200);

it('A secret key may burst to twice its rate, and a test key gets a multiple of that', async () => {
  const { live, secret } = await start();
  stopTime();
  expect((await sendMany(5, live)).map(({ status }) => status)).toEqual([...ok(4), 429]);
  expect((await sendMany(9, secret)).map(({ status }) => status)).toEqual([...ok(8), 429]);
});

it('The 429 says when to retry, and then the request succeeds', async () => {
  const { live, url } = await start();
  stopTime();
  const refused = (await sendMany(5, live)).at(-1);
  expect(refused?.body.data.code).toBe('rate_limited');
  const retryAfter = Number(refused?.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThanOrEqual(1);
  expect(retryAfter).toBeLessThanOrEqual(2);
  vi.useRealTimers();
  await expect
    .poll(async () => (await call(url, 'PATCH', '/v1/payments/P1/cancel', { key: live })).status, {
      timeout: 4000,
    })
    .toBe(200);
});

it('Requests with public keys are counted per IP address, across keys', async () => {
  const { merchantId, database, keys, public: first } = await start();
  const second = await database.write((transaction) =>
    keys.create(transaction, { merchantId, kind: 'public', mode: 'test' }),
  );
  stopTime();
  expect((await sendMany(4, first)).map(({ status }) => status)).toEqual(ok(4));
  expect((await sendMany(3, second.key)).map(({ status }) => status)).toEqual([...ok(2), 429]);
});

it('The payers of a merchant can store a limited amount in a day, and its server and its other mode keep working', async () => {
  const { check, charge } = createLimits({ ...limits, storedMegabytesPerDay: 1, publicPerSecond: 1000 });
  const request = { ip: '127.0.0.1', headers: { 'content-length': '99000' } } as unknown as express.Request;
  const response = {} as unknown as express.Response;
  const caller = { merchantId: 'M1', kind: 'public', mode: 'live', keyScope: 'full', keyLast4: '' } as const;
  const { create, cancel, retrieve } = api.payments;
  const codeOf = (asking: Caller, endpoint: Endpoint) =>
    check(request, response, asking, endpoint).then(
      () => 'ok',
      (error: unknown) => (error instanceof Problem ? error.code : error),
    );
  for (let index = 0; index < 111; index += 1) charge(request, caller, create, 10_000);
  expect(await codeOf(caller, cancel)).toBe('ok');
  charge(request, caller, create, 10_000);
  for (const endpoint of [create, cancel]) expect(await codeOf(caller, endpoint)).toBe('rate_limited');
  expect(await codeOf(caller, retrieve)).toBe('ok');
  for (const other of [{ kind: 'secret' }, { mode: 'test' }, { merchantId: 'M2' }] as const) {
    expect(await codeOf({ ...caller, ...other }, cancel)).toBe('ok');
  }
});

it('A long reply to a public key counts as more than one request', async () => {
  const { public: key } = await start({}, 'x'.repeat(2 * 16_384));
  stopTime();
  // Each counts as three of six.
  expect((await sendMany(3, key)).map(({ status }) => status)).toEqual([...ok(2), 429]);
});

it('The limit of payments per IP address applies to public keys, but not to secret keys', async () => {
  const { public: publicKey, secret } = await start({ publicPerSecond: 100, secretPerSecond: 100 });
  const createSix = (key: string) => sendMany(6, key, 'POST', '/v1/payments/checkout');
  expect((await createSix(publicKey)).map(({ status }) => status)).toEqual([400, 400, 400, 400, 429, 429]);
  expect((await createSix(secret)).map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400]);
});

it('A public key has a limit of payments in total', async () => {
  const { public: publicKey } = await start({ publicPerSecond: 100, paymentsPerMinutePerKey: 1 });
  const answers = await sendMany(3, publicKey, 'POST', '/v1/payments/checkout');
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 429]);
});

/**
 * Sends more requests at once than a limit allows.
 * @returns the statuses, without the 429s
 */
async function exceed(limit: number, send: (index: number) => Promise<Response>): Promise<number[]> {
  const startedAt = performance.now();
  const replies = await Promise.all(Array.from({ length: 60 }, (_, index) => send(index)));
  // On a busy machine they fall into several windows of a second.
  const windows = Math.ceil((performance.now() - startedAt) / 1000) + 1;
  const refused = replies.filter(({ status }) => status === 429);
  const others = replies.filter(({ status }) => status !== 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(others.length).toBeLessThanOrEqual(limit * windows);
  for (const reply of refused) {
    expect(reply.headers.get('retry-after')).toBe('1');
    expect(((await reply.json()) as Answer['body']).data.code).toBe('rate_limited');
  }
  return others.map(({ status }) => status);
}

describe.each(enginesOfQuick)('Before the key is checked, on $name', (engine) => {
  let running: TestServer | undefined;
  afterEach(() => running?.stop());
  const begin = async (env: Record<string, string>) =>
    (running = await startServer({ engine, env: { RATE_LIMIT: 'on', ...env } }));

  it('an IP address has a limit of requests, whatever their key and path', async () => {
    const { url, secretKey } = await begin({ RATE_LIMIT_REQUESTS_PER_SECOND_PER_IP: '4' });
    const options = { headers: { Authorization: `Bearer ${secretKey}` } };
    const paths = ['/v1/currencies', '/v1/nothing', '/sandbox/nothing', '/healthz', '/pay/NOBODY'];
    await exceed(4, (index) => fetch(url + (paths[index % 5] ?? ''), index % 2 === 0 ? options : {}));
    await exceed(4, () => fetch(`${url}/v1/payments/checkout`, { method: 'OPTIONS' }));
  });

  it('an IP address has a limit of unknown keys, which does not affect good keys', async () => {
    const { url, secretKey } = await begin({ RATE_LIMIT_FAILED_KEYS_PER_SECOND_PER_IP: '3' });
    const get = (key: string) =>
      fetch(`${url}/v1/currencies`, { headers: { Authorization: `Bearer ${key}` } });
    const statuses = await exceed(3, () => get(`sk_test_${'x'.repeat(43)}`));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect((await get(secretKey)).status).toBe(200);
  });

  it('an IP address has a limit for pages, files, the demo shop and /readyz', async () => {
    const { url } = await begin({
      RATE_LIMIT_PAGES_PER_SECOND_PER_IP: '2',
      RATE_LIMIT_REQUESTS_PER_SECOND_PER_IP: '10000',
    });
    for (const path of [
      '/pay/NOBODY',
      '/crypto-checkout.js',
      '/flags/ng.svg',
      '/demo-api/nothing',
      '/readyz',
    ]) {
      await exceed(2, () => fetch(url + path));
    }
    const healthy = await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/healthz`)));
    expect(new Set(healthy.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
