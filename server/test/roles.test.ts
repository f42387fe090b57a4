/** Access control: public keys and secret ones with their scopes, test and live mode, and several merchants with several keys. */
import { api, sandbox } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewKey } from '../src/core/merchants/keys.js';
import { call } from './support/call.js';
import { enginesOfQuick } from './support/engines.js';
import { nobody, routesOf, titled, type Route } from './support/routes.js';
import { startServer, type TestServer } from './support/server.js';

const routes = routesOf({ ...api, sandbox });

/**
 * Everything that a page may call with its public key, which anybody can read. This list and the next one repeat the contract on purpose: an
 * endpoint that needs no secret key must be named a second time.
 */
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

const withoutKey = ['POST /v1/refund-claims/retrieve', 'POST /v1/refund-claims/address'];

// Two of them are GET in the specification, and change something.
const isRead = ({ method, verb }: Route) => method === 'GET' && verb !== 'makePrimary';
const readsPayments = (route: Route) =>
  isRead(route) && ['payments', 'transactions'].includes(route.resource);

/** The routes that each key may call, and what a refusal says of it. */
const kinds: readonly {
  readonly key: string;
  readonly given: Partial<NewKey>;
  readonly may: (route: Route) => boolean;
  readonly says: RegExp;
}[] = [
  {
    key: 'A public key',
    given: { kind: 'public' },
    may: ({ title }) => forPages.includes(title),
    says: /secret key/,
  },
  { key: 'A secret key with the scope full', given: { scope: 'full' }, may: () => true, says: /^$/ },
  {
    key: 'A secret key with the scope read',
    given: { scope: 'read' },
    may: isRead,
    says: /scope of this secret key is "read"/,
  },
  {
    key: 'A secret key with the scope verify',
    given: { scope: 'verify' },
    may: readsPayments,
    says: /scope of this secret key is "verify"/,
  },
  {
    key: 'A secret key with the scope refunds',
    given: { scope: 'refunds' },
    may: (route) => route.resource === 'refunds' || readsPayments(route),
    says: /scope of this secret key is "refunds"/,
  },
];

describe.each(enginesOfQuick)('On $name', (engine) => {
  let server: TestServer;
  /** Milliseconds that the server's clock is ahead. */
  let ahead = 0;
  beforeAll(async () => {
    server = await startServer({ engine, overrides: { realNow: () => Date.now() + ahead } });
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

  /** Creates a key of the first merchant, by default a secret one. */
  async function createKey(given: Partial<NewKey>): Promise<string> {
    const { merchantId } = server.bootstrapped;
    const { key } = await server.database.write((transaction) =>
      server.app.keys.create(transaction, { merchantId, kind: 'secret', mode: 'test', ...given }),
    );
    return key;
  }

  it('every route that pages may call exists, and few read no key', () => {
    expect(routes.map(({ title }) => title)).toEqual(expect.arrayContaining(forPages));
    const keyless = routes.filter(({ endpoint }) => endpoint.key === 'none');
    expect(keyless.map(({ title }) => title)).toEqual(withoutKey);
  });

  it.each(kinds)('$key may call its routes and those that read no key, and no others', async (kind) => {
    const { given, may, says } = kind;
    const key = await createKey(given);
    const refused: string[] = [];
    for (const { method, url, title } of routes) {
      const { status, body } = await send(method, url(nobody), key, method === 'GET' ? undefined : {});
      if (status !== 403) continue;
      expect(body.data.code).toBe('secret_key_required');
      expect(body.message).toMatch(says);
      refused.push(title);
    }
    const expected = routes.filter((route) => !withoutKey.includes(route.title) && !may(route));
    expect(refused).toEqual(expected.map(({ title }) => title));
  });

  it.each(titled(routes))('%s allows other origins only if pages may call it', async (_title, route) => {
    const { method, url, path } = route;
    const sharesPath = forPages.some((title) => title.split(' ')[1] === path);
    const response = await fetch(server.url + url(nobody), {
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

  it('the sandbox accepts test keys, and does not exist for live ones', async () => {
    const { secret, live } = await newMerchant();
    const advance = (key: string) => send('POST', '/sandbox/clock', key, { advanceSeconds: 0 });
    expect((await advance(secret.key)).status).toBe(200);
    const refused = await advance(live.key);
    expect([refused.status, refused.body.data.code]).toEqual([404, 'not_found']);
  });

  it('a restricted key learns of its scope before the body is read', async () => {
    const key = await createKey({ scope: 'read' });
    const answer = await server.api('POST', '/v1/transfers', { key, body: '{not json' });
    expect(answer.status).toBe(403);
  });

  it('keys stop at their expiry, even if they were just used', async () => {
    const key = await createKey({ expiresAt: Date.now() + 60_000 });
    const status = async () => {
      const { status: code, body } = await server.api('GET', '/v1/balances', { key });
      return [code, body.data.code];
    };
    expect(await status()).toEqual([200, undefined]);
    ahead = 61_000;
    expect(await status()).toEqual([401, 'invalid_api_key']);
    ahead = 0;
  });

  it('the test clock does not end a key', async () => {
    const key = await createKey({ expiresAt: Date.now() + 3_600_000 });
    await server.api('POST', '/sandbox/clock', { body: { advanceSeconds: 7200 } });
    expect((await server.api('GET', '/v1/balances', { key })).status).toBe(200);
  });

  it('an expired public key is not given to pages', async () => {
    const { merchantId } = server.bootstrapped;
    const current = await server.app.keys.publicKey(merchantId, 'test');
    await createKey({ kind: 'public', expiresAt: Date.now() - 1 });
    expect(await server.app.keys.publicKey(merchantId, 'test')).toBe(current);
  });
});
