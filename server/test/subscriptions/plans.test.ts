/** Payment plans over real HTTP, on both engines. */
import { frequencies } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const plan = {
  frequency: 'monthly',
  planName: 'Example membership',
  numberOfTimesToCharge: 12,
  amount: 5000,
  currency: 'NGN',
  currencies: ['BTC', 'USDT'],
};

describe.each(enginesOfTurn)('payment plans, on $name', (engine) => {
  let server: TestServer;
  let liveKey: string;
  let foreignKey: string;

  beforeAll(async () => {
    server = await startServer({ engine });
    liveKey = await server.foreignKey('secret', 'live');
    foreignKey = await server.foreignKey('secret', 'test');
  });
  afterAll(() => server.stop());

  const createPlan = (changes: object = {}, key?: string) =>
    server.api('POST', '/v1/payment-plans', { body: { ...plan, ...changes }, ...(key && { key }) });
  const change = (id: string, body: object) => server.api('PATCH', `/v1/payment-plans/${id}`, { body });
  const idOf = async (changes: object = {}) => String((await createPlan(changes)).body.data['id']);

  it('the API lists the seven frequencies of plans', async () => {
    const { body } = await server.api('GET', '/v1/payment-plans/misc');
    expect(body.data).toEqual({ frequencies });
    expect(frequencies).toHaveLength(7);
  });

  it.each(frequencies)('a plan can have the frequency %s', async (frequency) => {
    expect((await createPlan({ frequency })).body.data).toMatchObject({ frequency });
  });

  it('a plan is returned as it is stored', async () => {
    const { status, body } = await createPlan();
    expect(status).toBe(200);
    expect(body.data).toEqual({ id: body.data['id'], mode: 'test', isActive: true, ...plan });
    const fetched = await server.api('GET', `/v1/payment-plans/${String(body.data['id'])}`);
    expect(fetched.body.data).toEqual(body.data);
  });

  it('a plan takes numbers as text, and has codes in upper case, each once', async () => {
    const { body } = await createPlan({
      amount: '0.25',
      numberOfTimesToCharge: '3',
      currency: 'usd',
      currencies: ['usdt', 'Btc', 'USDT'],
    });
    expect(body.data).toMatchObject({
      amount: 0.25,
      numberOfTimesToCharge: 3,
      currency: 'USD',
      currencies: ['USDT', 'BTC'],
    });
  });

  it.each([
    [{ amount: 0 }, 'validation_error', 'amount'],
    [{ amount: -1 }, 'validation_error', 'amount'],
    [{ amount: '1.001' }, 'validation_error', 'amount'],
    [{ amount: undefined }, 'validation_error', 'amount'],
    [{ numberOfTimesToCharge: 0 }, 'validation_error', 'numberOfTimesToCharge'],
    [{ numberOfTimesToCharge: 1.5 }, 'validation_error', 'numberOfTimesToCharge'],
    [{ frequency: 'fortnightly' }, 'validation_error', 'frequency'],
    [{ planName: ' ' }, 'validation_error', 'planName'],
    [{ currencies: [] }, 'validation_error', 'currencies'],
    [{ currencies: 'BTC' }, 'validation_error', 'currencies'],
    [{ currency: 'XXX' }, 'unsupported_currency', 'currency'],
    [{ currencies: ['BTC', 'DOGE'] }, 'unsupported_currency', 'currencies.1'],
    [{ currencies: ['NGN'] }, 'unsupported_currency', 'currencies.0'],
  ])('a plan with %j is refused with %s for %s', async (changes, code, param) => {
    const { status, body } = await createPlan(changes);
    expect([status, body.data.code, body.data.param]).toEqual([400, code, param]);
  });

  it("a plan accepts only currencies that can be paid in the key's mode", async () => {
    const { status, body } = await createPlan({}, liveKey);
    expect([status, body.data.code, body.data.param]).toEqual([400, 'unsupported_currency', 'currencies.0']);
  });

  it('only the amount and isActive of a plan can change, each on its own', async () => {
    const id = await idOf();
    expect((await change(id, { amount: 6000 })).body.data).toMatchObject({ amount: 6000, isActive: true });
    expect((await change(id, { isActive: 'false' })).body.data).toMatchObject({
      amount: 6000,
      isActive: false,
    });
    expect((await change(id, { planName: 'Another', currency: 'USD' })).body.data).toEqual({
      ...plan,
      id,
      mode: 'test',
      amount: 6000,
      isActive: false,
    });
    expect((await change(id, { isActive: true })).body.data).toMatchObject({ isActive: true });
    const { status, body } = await change(id, { amount: '1.999' });
    expect([status, body.data.param]).toEqual([400, 'amount']);
    expect((await server.api('GET', `/v1/payment-plans/${id}`)).body.data).toMatchObject({ amount: 6000 });
  });

  it('a plan is not found by another merchant, in the other mode, or if it does not exist', async () => {
    const id = await idOf();
    for (const [key, wanted] of [
      [foreignKey, id],
      [liveKey, id],
      [server.secretKey, 'NO-SUCH-PLAN'],
    ] as const) {
      for (const method of ['GET', 'PATCH']) {
        const { status, body } = await server.api(method, `/v1/payment-plans/${wanted}`, {
          key,
          ...(method === 'PATCH' && { body: { amount: 1 } }),
        });
        expect([status, body.data.code, body.message]).toEqual([404, 'not_found', 'No such payment plan']);
      }
    }
  });

  it('plans are listed newest first, by page, currency and time', async () => {
    const key = await server.foreignKey('secret', 'test');
    const list = async (query: string) =>
      (await server.api('GET', `/v1/payment-plans${query}`, { key })).body as unknown as {
        data: { planName: string }[];
        meta: { pagination: object };
      };
    for (const [planName, currency] of [
      ['first', 'NGN'],
      ['second', 'USD'],
      ['third', 'NGN'],
    ]) {
      await createPlan({ planName, currency }, key);
      await server.api('POST', '/sandbox/clock', { body: { advanceSeconds: 60 } });
    }
    const names = async (query: string) => (await list(query)).data.map((row) => row.planName);
    expect(await names('')).toEqual(['third', 'second', 'first']);
    expect(await names('?currency=ngn')).toEqual(['third', 'first']);
    expect(await names('?currency=EUR')).toEqual([]);
    expect(await names('?currency=nothing')).toEqual([]);
    const second = await list('?skip=2&page=2');
    expect(second.data.map((row) => row.planName)).toEqual(['first']);
    expect(second.meta.pagination).toEqual({ total: 3, count: 1, from: 3, to: 3 });
    const later = encodeURIComponent(new Date(Date.now() + 30_000 * 1000).toISOString());
    expect(await names(`?from=${later}`)).toEqual([]);
    expect(await names(`?to=${later}`)).toHaveLength(3);
  });

  it('a repeated request for a plan gets the same reply', async () => {
    const once = () =>
      server.api('POST', '/v1/payment-plans', { body: plan, headers: { 'Idempotency-Key': 'plan-1' } });
    const [first, again] = [await once(), await once()];
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body.data).toEqual(first.body.data);
  });
});
