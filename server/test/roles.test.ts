/** Who may do what: the two kinds of keys, the two modes, several merchants and several keys of each. */
import { api, type Endpoint } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from './support/call.js';
import { engines } from './support/engines.js';
import { startServer, type TestServer } from './support/server.js';

const routes = Object.values(api)
  .flatMap((verbs) => Object.values<Endpoint>(verbs))
  .flatMap(({ method, path, aliases = [] }) => [path, ...aliases].map((route) => `${method} ${route}`));

/** All that a page may call: it holds the public key, which anybody may read. */
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
];

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

  /** Keys of a new merchant. */
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

  it('the list of what pages may call names routes that exist', () => {
    expect(routes).toEqual(expect.arrayContaining(forPages));
  });

  it.each(routes)('%s opens to a public key only if a page may call it', async (route) => {
    const { method, path } = split(route);
    const { status, body } = await send(method, path, server.publicKey, method === 'GET' ? undefined : {});
    const isRefused = status === 403 && body.data.code === 'secret_key_required';
    expect(isRefused).toBe(!forPages.includes(route));
  });

  it.each(routes)('%s is for scripts of other origins only if a page may call it', async (route) => {
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

  it('a merchant sees nothing of another, nor of the other mode', async () => {
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
    // The same reference is another merchant's own affair.
    expect((await pay(other.secret.key, 'order-1')).status).toBe(200);
    expect((await send('PATCH', `/v1/payments/${id}/cancel`, other.public.key)).status).toBe(404);
    expect((await send('GET', `/v1/payments/${id}`, server.publicKey)).body.data['status']).toBe(
      'in progress',
    );
  });

  it('only a secret key learns which payment has a reference', async () => {
    const { secret, public: page } = await newMerchant();
    const { id } = (await pay(secret.key, 'order-2')).body.data['payment'] as { id: string };
    const byServer = await pay(secret.key, 'order-2');
    const byPage = await pay(page.key, 'order-2');
    expect([byServer.status, byServer.body.data['paymentId']]).toEqual([409, id]);
    expect([byPage.status, byPage.body.data['paymentId']]).toEqual([409, undefined]);
  });

  it('a merchant has several keys of one kind, and loses one without the others', async () => {
    const { secret, another } = await newMerchant();
    const status = async (key: string) => (await send('GET', '/v1/transactions', key)).status;
    expect([await status(secret.key), await status(another.key)]).toEqual([200, 200]);
    await server.app.keys.revoke(secret.id);
    expect([await status(secret.key), await status(another.key)]).toEqual([401, 200]);
  });

  it('the controls of the simulated networks are for test keys alone', async () => {
    const { secret, public: page, live } = await newMerchant();
    const advance = (key: string) => send('POST', '/sandbox/clock', key, { advanceSeconds: 0 });
    expect([(await advance(secret.key)).status, (await advance(page.key)).status]).toEqual([200, 200]);
    const refused = await advance(live.key);
    expect([refused.status, refused.body.data.code]).toEqual([404, 'not_found']);
  });
});
