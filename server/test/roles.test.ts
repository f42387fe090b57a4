/** Access control: secret and public keys, test and live mode, and several merchants with several keys. */
import { api, endpointsOf, pathsOf } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from './support/call.js';
import { engines } from './support/engines.js';
import { startServer, type TestServer } from './support/server.js';

const routes = endpointsOf(api).flatMap(({ endpoint }) =>
  pathsOf(endpoint).map((path) => `${endpoint.method} ${path}`),
);

/** Everything that a page may call with its public key, which anybody can read. */
const forPages = [
  'POST /v1/payments/checkout',
  'GET /v1/payments/{payment_id}',
  'GET /v1/payments/checkout/{payment_id}',
  'PATCH /v1/payments/{payment_id}/cancel',
  'PATCH /v1/payments/checkout/{payment_id}/cancel',
  'PATCH /v1/payments/{payment_id}/currency/set/{currency}/{network}',
  'PATCH /v1/payments/checkout/{payment_id}/currency/set/{currency}/{network}',
  'PATCH /v1/payments/{payment_id}/currency/lock',
  'PATCH /v1/payments/checkout/{payment_id}/currency/lock',
  'GET /v1/transactions/{transaction_id}/verify/checkout',
  'GET /v1/payments/{payment_id}/transfers/{hash}',
];

const withoutKey = ['/v1/refund-claims/retrieve', '/v1/refund-claims/address'];

const split = (route: string) => {
  const [method = '', path = ''] = route.split(' ');
  return { method, path: path.replace(/\{\*?\w+\}/g, 'nobody') };
};

describe.each(engines)('On $name', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  /** Creates a merchant and its keys. */
  async function newMerchant() {
    const { keys, merchants } = server.app;
    return server.database.write(async (transaction) => {
      const { id: merchantId } = await merchants.create(transaction, { name: 'Second Shop' });
      const make = (kind: 'secret' | 'public', mode: 'test' | 'live') =>
        keys.create(transaction, { merchantId, kind, mode });
      return {
        secret: await make('secret', 'test'),
        another: await make('secret', 'test'),
        public: await make('public', 'test'),
        live: await make('secret', 'live'),
      };
    });
  }
  const send = (method: string, path: string, key: string, body?: object) =>
    call(server.url, method, path, { key, ...(body && { body }) });
  const pay = (key: string, txRef: string) =>
    send('POST', '/v1/payments/checkout', key, { amount: 10, baseCurrency: 'USD', txRef });

  it('every route that pages may call exists', () => {
    expect(routes).toEqual(expect.arrayContaining(forPages));
  });

  it.each(routes)('%s accepts a public key only if pages may call it', async (route) => {
    const { method, path } = split(route);
    const { status, body } = await send(method, path, server.publicKey, method === 'GET' ? undefined : {});
    const isRefused = status === 403 && body.data.code === 'secret_key_required';
    expect(isRefused).toBe(!forPages.includes(route) && !withoutKey.includes(path));
  });

  it.each(routes)('%s allows other origins only if pages may call it', async (route) => {
    const { method, path } = split(route);
    const sharesPath = forPages.some((page) => split(page).path === path);
    const response = await fetch(server.url + path, {
      method: 'OPTIONS',
      headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': method },
    });
    expect(response.headers.get('access-control-allow-origin')).toBe(sharesPath ? '*' : null);
    expect(response.headers.get('access-control-allow-credentials')).toBe(null);
    expect(response.status).toBe(sharesPath ? 204 : 401);
  });

  it('a merchant sees no records of another merchant or of the other mode', async () => {
    const other = await newMerchant();
    const made = await pay(server.secretKey, 'order-1');
    const { id } = made.body.data['payment'] as { id: string };
    for (const key of [other.secret.key, other.live.key, other.public.key]) {
      const theirs = await send('GET', `/v1/payments/${id}`, key);
      const unknown = await send('GET', '/v1/payments/00000000000000000000000000', key);
      const without = (answer: typeof theirs) => ({
        status: answer.status,
        body: { ...answer.body, data: { ...answer.body.data, requestId: '' } },
      });
      expect(theirs.status).toBe(404);
      expect(without(theirs)).toEqual(without(unknown));
    }
    for (const key of [other.secret.key, other.live.key]) {
      expect((await send('GET', '/v1/transactions', key)).body.meta).toMatchObject({
        pagination: { total: 0 },
      });
    }
    // References are unique per merchant, so another merchant can use the same one.
    expect((await pay(other.secret.key, 'order-1')).status).toBe(200);
    expect((await send('PATCH', `/v1/payments/${id}/cancel`, other.public.key)).status).toBe(404);
    expect((await send('GET', `/v1/payments/${id}`, server.publicKey)).body.data['status']).toBe(
      'in progress',
    );
  });

  it('only a secret key learns which payment already has a reference', async () => {
    const { secret, public: page } = await newMerchant();
    const { id } = (await pay(secret.key, 'order-2')).body.data['payment'] as { id: string };
    const byServer = await pay(secret.key, 'order-2');
    expect([byServer.status, byServer.body.data['paymentId']]).toEqual([409, id]);
    expect((await pay(page.key, 'order-2')).status).toBe(200);
    const byPage = await pay(page.key, 'order-2');
    expect([byPage.status, byPage.body.data['paymentId']]).toEqual([409, undefined]);
  });

  it('a merchant can have several keys of one kind, and revoke one without the others', async () => {
    const { secret, another } = await newMerchant();
    const status = async (key: string) => (await send('GET', '/v1/transactions', key)).status;
    expect([await status(secret.key), await status(another.key)]).toEqual([200, 200]);
    await server.database.write((transaction) => server.app.keys.revoke(transaction, secret.id));
    expect([await status(secret.key), await status(another.key)]).toEqual([401, 200]);
  });

  it('the sandbox accepts only secret test keys', async () => {
    const { secret, public: page, live } = await newMerchant();
    const advance = (key: string) => send('POST', '/sandbox/clock', key, { advanceSeconds: 0 });
    expect((await advance(secret.key)).status).toBe(200);
    const byPage = await advance(page.key);
    expect([byPage.status, byPage.body.data.code]).toEqual([403, 'secret_key_required']);
    const refused = await advance(live.key);
    expect([refused.status, refused.body.data.code]).toEqual([404, 'not_found']);
  });
});
