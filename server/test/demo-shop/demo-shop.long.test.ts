/** The demo shop, with its API. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';

describe('the demo shop', () => {
  let server: TestServer;

  beforeAll(async () => {
    const [engine] = engines;
    if (!engine) throw new Error('No database engine is available');
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  async function shop(
    path: string,
    body?: unknown,
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    const reply = await fetch(`${server.url}/demo-api/${path}`, {
      ...(body !== undefined && {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    });
    return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
  }

  /** Creates a payment for an order, as the widget does, and pays it in full. @returns its id */
  async function payOrder(txRef: unknown, amount: unknown, baseCurrency: unknown): Promise<string> {
    const payer = openShop(server);
    const locked = await payer.lock({
      key: server.publicKey,
      txRef: String(txRef),
      amount: String(amount),
      baseCurrency: String(baseCurrency),
    });
    await payer.pay(locked.address, locked.amount);
    return locked.id;
  }

  it('The demo shop gives its pages a public key and the currencies, but no secret key', async () => {
    const { status, json } = await shop('config');
    expect(status).toBe(200);
    expect(json).toMatchObject({ publicKey: server.publicKey, checkoutUrl: `${server.url}/pay` });
    expect(json['assets']).toContainEqual({ currency: 'USDT', network: 'tron', decimals: 2 });
    // The random part of the public key may contain "sk_" by chance.
    expect(JSON.stringify(json)).not.toMatch(/sk_(test|live)_/);
  });

  it('The demo shop takes an order at its own price, whatever the page sends', async () => {
    const { status, json } = await shop('orders', { quantity: 3, baseCurrency: 'EUR', amount: '0.01' });
    expect(status).toBe(200);
    expect(json).toMatchObject({ quantity: 3, baseCurrency: 'EUR', amount: '65.7' });
    expect(await shop(`orders/${String(json['id'])}`)).toEqual({ status: 200, json });
  });

  it('The demo shop counts its orders, so that each has a short number of its own', async () => {
    const orders = await Promise.all(
      Array.from({ length: 5 }, () => shop('orders', { quantity: 1, baseCurrency: 'USD' })),
    );
    const numbers = orders.map(({ json }) => Number(json['reference'])).sort((a, b) => a - b);
    const [first = 0] = numbers;
    expect(first).toBeGreaterThan(4820);
    expect(numbers).toEqual([0, 1, 2, 3, 4].map((more) => first + more));
  });

  it.each([
    { quantity: 0, baseCurrency: 'USD' },
    { quantity: 10, baseCurrency: 'USD' },
    { quantity: 1.5, baseCurrency: 'USD' },
    { quantity: '1', baseCurrency: 'USD' },
    { quantity: 1, baseCurrency: 'toString' },
    { orders: [] },
    'no JSON',
  ])('The demo shop refuses the order %j', async (body) => {
    const { status, json } = await shop('orders', body);
    expect(status).toBe(400);
    expect(json['error']).toEqual(expect.stringMatching(/\w/));
  });

  it.each(['4821-1-XXX-0123456789', `4821-1-USD-${'0'.repeat(20)}`, '4821', '..'])(
    'The demo shop has no order %s',
    async (reference) => {
      expect((await shop(`orders/${encodeURIComponent(reference)}`)).status).toBe(404);
    },
  );

  it('The demo shop verifies a paid order, even by the second payment for it', async () => {
    const { json: order } = await shop('orders', { quantity: 1, baseCurrency: 'NGN' });
    const { id: orderId, reference, amount, baseCurrency } = order;
    const id = await payOrder(`${String(reference)}:2`, amount, baseCurrency);
    const { json } = await shop(`orders/${String(orderId)}/verification`, { paymentId: id });
    expect(json).toMatchObject({ verified: true, transaction: { status: 'success' } });
    expect(json['rules']).toEqual(
      ['reference', 'mode', 'status', 'price', 'amount'].map((rule) => ({ rule, passed: true })),
    );
  });

  it('The demo shop accepts no payment for another order, of a lower amount or in another currency', async () => {
    const { json: order } = await shop('orders', { quantity: 2, baseCurrency: 'USD' });
    const [orderId, reference] = [String(order['id']), String(order['reference'])];
    const verify = async (paymentId: string) => {
      const { json } = await shop(`orders/${orderId}/verification`, { paymentId });
      const rules = json['rules'] as { rule: string; passed: boolean }[];
      return {
        verified: json['verified'],
        failed: rules.filter(({ passed }) => !passed).map(({ rule }) => rule),
      };
    };
    expect(await verify(await payOrder('another-order', '49', 'USD'))).toEqual({
      verified: false,
      failed: ['reference'],
    });
    expect(await verify(await payOrder(`${reference}x:2`, '49', 'USD'))).toEqual({
      verified: false,
      failed: ['reference'],
    });
    expect(await verify(await payOrder(reference, '0.49', 'USD'))).toEqual({
      verified: false,
      failed: ['price'],
    });
    expect(await verify(await payOrder(`${reference}:2`, '49', 'NGN'))).toEqual({
      verified: false,
      failed: ['price'],
    });
    expect((await shop(`orders/${orderId}/verification`, { paymentId: 'none' })).status).toBe(404);
    expect((await shop(`orders/${orderId}/verification`, {})).status).toBe(400);
  });

  describe('the simulator', () => {
    /** As the widget does. */
    const lock = async (txRef: unknown) =>
      (await openShop(server).lock({ key: server.publicKey, txRef: String(txRef), amount: '24.5' })).id;
    const newOrder = async () =>
      String((await shop('orders', { quantity: 1, baseCurrency: 'USD' })).json['id']);
    /** An order's id begins with its number. */
    const referenceOf = (orderId: string) => orderId.replace(/-.*/, '');
    const simulate = (orderId: string, paymentId: string, name: string) =>
      shop(`orders/${orderId}/simulation`, { paymentId, name });
    const statusOf = async (id: string) =>
      (await server.api('GET', `/v1/transactions/${id}/verify`)).body.data['status'];
    const transfers = async () =>
      (await server.database.reader.selectFrom('simulated_transfers').select('tx_hash').execute()).length;

    it('The simulator plays the payer, the network and the clock, without a secret in the page', async () => {
      const [first, second] = [await newOrder(), await newOrder()];
      const [own, others] = [await lock(referenceOf(first)), await lock(referenceOf(second))];
      for (const [orderId, id] of [
        [first, own],
        [second, others],
      ] as const) {
        const { status, json } = await simulate(orderId, id, 'exact');
        expect([status, json['done']]).toEqual([200, expect.stringMatching(/^Sent 24\.\S* USDT on Tron/)]);
        await simulate(orderId, id, 'mine');
        await simulate(orderId, id, 'mine');
      }
      expect([await statusOf(own), await statusOf(others)]).toEqual(['success', 'success']);
      expect((await simulate(first, own, 'reorg')).status).toBe(200);
      expect([await statusOf(own), await statusOf(others)], 'only the visitor’s own').toEqual([
        'error',
        'success',
      ]);
      const late = await lock(`${referenceOf(first)}:2`);
      const { json } = await simulate(first, late, 'deadline');
      expect(json['done']).toMatch(/past the deadline/);
      // The page says so, as the clock is the one of all payments after it.
      expect(json['clockAheadSeconds']).toBeGreaterThan(1700);
      expect((await shop('config')).json['clockAheadSeconds']).toBeGreaterThan(1700);
      expect(await statusOf(late)).toBe('error');
    });

    it('The simulator refunds the amount paid above the price', async () => {
      const orderId = await newOrder();
      const id = await lock(referenceOf(orderId));
      for (const name of ['over', 'mine', 'mine']) await simulate(orderId, id, name);
      const { status, json } = await simulate(orderId, id, 'refund');
      expect([status, json['done']]).toEqual([
        200,
        expect.stringMatching(/^The shop sends 6\.\d+ USDT back/),
      ]);
      const refunds = async () => (await server.api('GET', `/v1/refunds?paymentId=${id}`)).body.data;
      // The simulated network sends it automatically.
      await expect
        .poll(refunds, { timeout: 20_000 })
        .toMatchObject([{ kind: 'excess', txHash: expect.any(String) as string }]);
      expect((await simulate(orderId, id, 'refund')).status).toBe(409);
    });

    it('The simulator can also send the visitor the link, and approves once there is an address', async () => {
      const orderId = await newOrder();
      const id = await lock(referenceOf(orderId));
      for (const name of ['over', 'mine', 'mine']) await simulate(orderId, id, name);
      const { url, address } = (await simulate(orderId, id, 'claim')).json['claim'] as Record<string, string>;
      expect((await simulate(orderId, id, 'claim')).status, 'there is no address yet').toBe(409);
      const body = { token: new URL(url ?? '').hash.slice(1), address };
      expect((await server.api('POST', '/v1/refund-claims/address', { key: undefined, body })).status).toBe(
        200,
      );
      const { json } = await simulate(orderId, id, 'claim');
      expect(json['done']).toMatch(/^The shop approves, and the network sends 6\.\d+ USDT/);
      // The next test counts its own transfers.
      const refunds = async () => (await server.api('GET', `/v1/refunds?paymentId=${id}`)).body.data;
      await expect
        .poll(refunds, { timeout: 20_000 })
        .toMatchObject([{ address, txHash: expect.any(String) as string }]);
    });

    it('The demo shop finds the payment that another page started for an order, and says nothing of its payer', async () => {
      const [orderId, other] = [await newOrder(), await newOrder()];
      const read = async (id: string) => (await shop(`orders/${id}`)).json['payment'];
      expect(await read(orderId)).toBeUndefined();
      await lock(referenceOf(orderId));
      const newest = await lock(`${referenceOf(orderId)}:2`);
      await lock(referenceOf(other));
      const payment = (await read(orderId)) as Record<string, unknown>;
      expect(payment).toMatchObject({ id: newest, amountSeen: 0, currencyNetwork: 'tron' });
      expect(Object.keys(payment).sort()).toEqual([
        'addressInformation',
        'amountDue',
        'amountSeen',
        'currency',
        'currencyNetwork',
        'id',
        'state',
        'status',
      ]);
      await simulate(orderId, newest, 'exact');
      expect(await read(orderId)).toMatchObject({ amountSeen: payment['amountDue'] });
      const forged = orderId.replace(/.{20}$/, '0'.repeat(20));
      expect((await shop(`orders/${forged}`)).status).toBe(404);
    });

    it('The demo shop finds the payment of an order however many payments of others came later', async () => {
      const orderId = await newOrder();
      const id = await lock(referenceOf(orderId));
      const body = { amount: 20, baseCurrency: 'USD' };
      for (let index = 0; index < 55; index += 1) await server.api('POST', '/v1/payments/checkout', { body });
      expect((await shop(`orders/${orderId}`)).json['payment']).toMatchObject({ id });
    });

    it('The simulator works only for payments of the shop’s own orders', async () => {
      const before = await transfers();
      const orderId = await newOrder();
      const reference = referenceOf(orderId);
      const [own, other] = [await lock(reference), await lock('order-of-another-system')];
      const forged = orderId.replace(/.{20}$/, '0'.repeat(20));
      const foreign = await server.foreignKey('secret', 'test');
      const created = await server.api('POST', '/v1/payments/checkout', {
        key: foreign,
        body: { txRef: reference, amount: 20, baseCurrency: 'USD' },
      });
      const { id: theirs } = (created.body.data as { payment: { id: string } }).payment;
      const statuses = await Promise.all([
        simulate(orderId, other, 'exact'),
        simulate('order-of-another-system', other, 'exact'),
        simulate(forged, own, 'exact'),
        simulate(await newOrder(), own, 'exact'),
        simulate(orderId, theirs, 'exact'),
        simulate(orderId, own, 'steal'),
        simulate(orderId, '../../secrets', 'exact'),
      ]);
      expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 400, 404]);
      expect(await transfers()).toBe(before);
    });
  });

  it('The demo shop limits how often a visitor uses the simulator', async () => {
    const [engine] = engines;
    if (!engine) throw new Error('No database engine is available');
    const env = { RATE_LIMIT: 'on', RATE_LIMIT_PAGES_PER_SECOND_PER_IP: '1000' };
    const limited = await startServer({ engine, env });
    const statuses = await Promise.all(
      Array.from({ length: 61 }, async () => {
        const reply = await fetch(`${limited.url}/demo-api/orders/none/simulation`, { method: 'POST' });
        return reply.status;
      }),
    );
    await limited.stop();
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    expect(statuses.filter((status) => status === 404)).toHaveLength(60);
  });

  it('The demo shop limits how often a visitor reads orders', async () => {
    const [engine] = engines;
    if (!engine) throw new Error('No database engine is available');
    const env = { RATE_LIMIT: 'on', RATE_LIMIT_PAGES_PER_SECOND_PER_IP: '1000' };
    const limited = await startServer({ engine, env });
    const statuses = await Promise.all(
      Array.from({ length: 121 }, async () => (await fetch(`${limited.url}/demo-api/orders/none`)).status),
    );
    await limited.stop();
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    expect(statuses.filter((status) => status === 404)).toHaveLength(120);
  });

  describe('a test clock that was moved', () => {
    const reset = (url: string, headers: Record<string, string>) =>
      fetch(`${url}/demo-api/reset`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: '{}',
      }).then(({ status }) => status);

    it('The shop’s own page sets a moved test clock back, and deletes the test payments', async () => {
      await payOrder('order-to-forget', 5, 'USD');
      await server.api('POST', '/sandbox/clock', { body: { advanceSeconds: 3600 } });
      const clockAhead = async () => Number((await shop('config')).json['clockAheadSeconds']);
      // Actions of others reach the page within seconds.
      await expect.poll(clockAhead, { timeout: 10_000, interval: 500 }).toBeGreaterThanOrEqual(3600);
      const { clockAheadSeconds: ahead, canReset } = (await shop('config')).json;
      expect(canReset).toBe(true);
      const [others, none] = [{ Origin: 'http://rebound.example:8080' }, {}];
      expect([await reset(server.url, others), await reset(server.url, none)]).toEqual([403, 403]);
      expect((await shop('config')).json).toMatchObject({ clockAheadSeconds: ahead });

      expect(await reset(server.url, { Origin: server.url })).toBe(200);
      expect((await shop('config')).json).toMatchObject({ clockAheadSeconds: 0 });
      expect((await server.api('GET', '/v1/transactions')).body.meta).toMatchObject({
        pagination: { total: 0 },
      });
      const { actor } = await server.database.reader
        .selectFrom('audit_log')
        .select('actor')
        .where('action', '=', 'sandbox.reset')
        .executeTakeFirstOrThrow();
      expect(actor).toBe('demo shop');
    });

    it('The demo shop cannot reset the test clock of a server that others reach', async () => {
      const [engine] = engines;
      if (!engine) throw new Error('No database engine is available');
      const open = await startServer({ engine, env: { PUBLIC_URL: 'https://demo.example' } });
      const config = (await (await fetch(`${open.url}/demo-api/config`)).json()) as object;
      expect(config).toMatchObject({ canReset: false });
      expect(await reset(open.url, { Origin: 'http://localhost' })).toBe(404);
      await open.stop();
    });
  });

  it('The demo shop answers unknown paths with a 404 of its own', async () => {
    expect(await shop('nothing')).toEqual({
      status: 404,
      json: { error: expect.stringMatching(/\w/) as string },
    });
  });
});
