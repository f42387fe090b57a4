/** Restricted secret keys: what each scope may call, and keys that expire. */
import { api, endpointsOf } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewKey } from '../../src/core/merchants/keys.js';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const endpoints = endpointsOf(api).map((one) => ({
  ...one,
  // These two are GET in the specification, and change something.
  isRead: one.endpoint.method === 'GET' && one.verb !== 'makePrimary',
}));

describe.each(engines)('secret keys on $name', (engine) => {
  let server: TestServer;
  /** Milliseconds that the server's clock is ahead. */
  let ahead = 0;
  beforeAll(async () => {
    server = await startServer({ engine, overrides: { realNow: () => Date.now() + ahead } });
  });
  afterAll(() => server.stop());

  async function create(change: Partial<NewKey> = {}): Promise<string> {
    const { merchantId } = server.bootstrapped;
    const { key } = await server.database.write((transaction) =>
      server.app.keys.create(transaction, { merchantId, kind: 'secret', mode: 'test', ...change }),
    );
    return key;
  }

  /** The routes that answer 403 to a key. */
  async function refusedBy(key: string): Promise<{ name: string; message: string }[]> {
    const refused: { name: string; message: string }[] = [];
    for (const { name, endpoint } of endpoints) {
      // It reads no key at all.
      if (endpoint.key === 'none') continue;
      for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
        const isRead = endpoint.method === 'GET';
        const answer = await server.api(endpoint.method, path.replace(/\{\*?\w+\}/g, 'nobody'), {
          key,
          ...(!isRead && { body: {} }),
        });
        if (answer.status !== 403) continue;
        expect(answer.body.data.code).toBe('secret_key_required');
        refused.push({ name, message: answer.body.message });
      }
    }
    return refused;
  }
  const namesWhere = (isRefused: (one: (typeof endpoints)[number]) => boolean) =>
    [
      ...new Set(
        endpoints.filter((one) => one.endpoint.key !== 'none' && isRefused(one)).map(({ name }) => name),
      ),
    ].sort();
  const uniqueNames = (refused: { name: string }[]) => [...new Set(refused.map(({ name }) => name))].sort();

  it('with the scope full may call everything', async () => {
    expect(await refusedBy(await create({ scope: 'full' }))).toEqual([]);
  });

  it('with the scope read may only read', async () => {
    const refused = await refusedBy(await create({ scope: 'read' }));
    expect(uniqueNames(refused)).toEqual(namesWhere(({ isRead }) => !isRead));
    for (const { message } of refused) expect(message).toMatch(/scope of this secret key is "read"/);
  });

  it('with the scope verify may only get, list and verify payments and transactions', async () => {
    const refused = await refusedBy(await create({ scope: 'verify' }));
    const isAllowed = ['payments', 'transactions'];
    expect(uniqueNames(refused)).toEqual(
      namesWhere(({ isRead, resource }) => !(isRead && isAllowed.includes(resource))),
    );
    for (const { message } of refused) expect(message).toMatch(/scope of this secret key is "verify"/);
  });

  it('with the scope refunds may make refunds too, and nothing else that changes anything', async () => {
    const refused = await refusedBy(await create({ scope: 'refunds' }));
    const isAllowed = ['payments', 'transactions'];
    expect(uniqueNames(refused)).toEqual(
      namesWhere(
        ({ isRead, resource }) => resource !== 'refunds' && !(isRead && isAllowed.includes(resource)),
      ),
    );
    for (const { message } of refused) expect(message).toMatch(/scope of this secret key is "refunds"/);
  });

  it.each(['read', 'verify', 'refunds'] as const)(
    'with the scope %s cannot move the simulated chain',
    async (scope) => {
      const body = { network: 'tron', count: 1 };
      const answer = await server.api('POST', '/sandbox/blocks', { key: await create({ scope }), body });
      expect([answer.status, answer.body.data.code]).toEqual([403, 'secret_key_required']);
    },
  );

  it('a restricted key learns of its scope before the body is read', async () => {
    const key = await create({ scope: 'read' });
    const answer = await server.api('POST', '/v1/transfers', { key, body: '{not json' });
    expect(answer.status).toBe(403);
  });

  it('stop at their expiry, even if they were just used', async () => {
    const key = await create({ expiresAt: Date.now() + 60_000 });
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
    const key = await create({ expiresAt: Date.now() + 3_600_000 });
    await server.api('POST', '/sandbox/clock', { body: { advanceSeconds: 7200 } });
    expect((await server.api('GET', '/v1/balances', { key })).status).toBe(200);
  });

  it('an expired public key is not given to pages', async () => {
    const { merchantId } = server.bootstrapped;
    const current = await server.app.keys.publicKey(merchantId, 'test');
    await create({ kind: 'public', expiresAt: Date.now() - 1 });
    expect(await server.app.keys.publicKey(merchantId, 'test')).toBe(current);
  });
});
