/** Rate limits: how many requests a caller may make before getting 429. */
import { api } from 'crypto-checkout/contract';
import { afterEach, expect, it } from 'vitest';
import { call } from '../support/call.js';
import { startTable, type TableServer } from '../support/table-server.js';

const limits = {
  secretPerSecond: 2,
  publicPerSecond: 3,
  paymentsPerMinutePerIp: 2,
  paymentsPerMinutePerKey: 600,
  paymentChangesPerHour: 60,
  testFactor: 2,
  sandboxPerSecond: 20,
};
const table = { payments: { create: api.payments.create, cancel: api.payments.cancel } };

let server: TableServer | undefined;
afterEach(() => server?.stop());

async function start(change: Partial<typeof limits> = {}) {
  server = await startTable({
    table,
    handlers: {
      payments: {
        // Never called: the requests have no amount, so validation refuses them.
        create: () => Promise.reject(new Error('The handler must not be called')),
        cancel: () => Promise.resolve({ message: 'Payment cancelled', data: undefined }),
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
  expect((await sendMany(5, live)).map(({ status }) => status)).toEqual([...ok(4), 429]);
  expect((await sendMany(9, secret)).map(({ status }) => status)).toEqual([...ok(8), 429]);
});

it('The 429 says when to retry, and then the request succeeds', async () => {
  const { live, url } = await start();
  const refused = (await sendMany(5, live)).at(-1);
  expect(refused?.body.data.code).toBe('rate_limited');
  const retryAfter = Number(refused?.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThanOrEqual(1);
  expect(retryAfter).toBeLessThanOrEqual(2);
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
  expect((await sendMany(4, first)).map(({ status }) => status)).toEqual(ok(4));
  expect((await sendMany(3, second.key)).map(({ status }) => status)).toEqual([...ok(2), 429]);
});

it('The limit of payments per IP address applies to public keys, but not to secret keys', async () => {
  const { public: publicKey, secret } = await start({ publicPerSecond: 100, secretPerSecond: 100 });
  const create = (key: string) => sendMany(6, key, 'POST', '/v1/payments/checkout');
  expect((await create(publicKey)).map(({ status }) => status)).toEqual([400, 400, 400, 400, 429, 429]);
  expect((await create(secret)).map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400]);
});

it('A public key has a limit of payments in total', async () => {
  const { public: publicKey } = await start({ publicPerSecond: 100, paymentsPerMinutePerKey: 1 });
  const answers = await sendMany(3, publicKey, 'POST', '/v1/payments/checkout');
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 429]);
});
