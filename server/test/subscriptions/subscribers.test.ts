/** Subscribers over real HTTP, on both engines: who can subscribe, how they are listed, and how they are removed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RateSource } from '../../src/core/money/rates.js';
import { createFixture, startListener, type Fixture } from './fixture.js';
import { testCoins } from '../support/coins.js';
import { enginesOfTurn } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const dollar = { numerator: 1n, denominator: 1n, source: 'test' };

describe.each(enginesOfTurn)('subscribers, on $name', (engine) => {
  let server: TestServer;
  let fixture: Fixture;
  let listener: Awaited<ReturnType<typeof startListener>>;
  const withoutRate = new Set<string>();
  const rates: RateSource = {
    latest: (code) => (withoutRate.has(code) ? undefined : { ...dollar, at: Date.now() }),
  };

  beforeAll(async () => {
    server = await startServer({ engine, overrides: { rates } });
    fixture = createFixture(server);
    listener = await startListener(server);
  });
  afterAll(async () => {
    await server.stop();
    await listener.stop();
  });

  it("subscribers are charged for cycle 0 when they subscribe, on the plan's terms", async () => {
    const planId = await fixture.createPlan({ currencies: ['BTC', 'ETH'] });
    const answer = await fixture.subscribe(planId, 'Ada@Example.com');
    expect([answer.status, answer.body]).toEqual([200, { status: 'success', message: 'Subscriber created' }]);

    const [subscriber] = await fixture.subscribers();
    expect(subscriber).toMatchObject({ isActive: true, noOfTimesPayed: 0, paymentPlanId: planId });
    const id = subscriber?.id ?? '';
    const account = await server.database.reader
      .selectFrom('merchants')
      .select('id')
      .orderBy('created_at')
      .executeTakeFirstOrThrow();
    expect(subscriber?.accountId).toBe(account.id);

    const [payment, ...others] = await fixture.payments(id);
    expect(others).toEqual([]);
    expect(payment).toMatchObject({
      txRef: `sub_${id}_0`,
      status: 'in progress',
      baseAmount: 10,
      baseCurrency: 'USD',
      customer: 'Ada@Example.com',
      currencies: ['BTC', 'ETH'],
    });
    expect([...new Set(payment?.currencyOptions?.map((option) => option.currency))]).toEqual(['BTC', 'ETH']);
    expect(await fixture.events(id)).toMatchObject([
      {
        type: 'subscription.payment_due',
        data: {
          ...subscriber,
          cycle: 0,
          payment: { id: payment?.id, txRef: `sub_${id}_0`, baseAmount: 10 },
          url: `${server.url}/pay/${String(payment?.id)}`,
        },
      },
    ]);
  });

  it("subscribers can pay only in the plan's currencies, while other payments accept all currencies", async () => {
    const { id } = await fixture.join(await fixture.createPlan({ currencies: ['usdt'] }), 'usdt@example.com');
    const [payment] = await fixture.payments(id);
    const set = (paymentId: string | undefined, option: string) =>
      server.api('PATCH', `/v1/payments/${String(paymentId)}/currency/set/${option}`, { body: {} });
    const refused = await set(payment?.id, 'BTC/bitcoin');
    expect([refused.status, refused.body.data.code, refused.body.data.param]).toEqual([
      400,
      'unsupported_currency',
      'currency',
    ]);
    expect((await set(payment?.id, 'usdt/TRON')).body.data).toMatchObject({ currency: 'USDT' });
    const { payment: free } = await fixture.ask<{ payment: { id: string; currencies: string[] } }>(
      'POST',
      '/v1/payments/checkout',
      { amount: 10, baseCurrency: 'USD' },
    );
    expect(free.currencies).toEqual(testCoins);
    expect((await set(free.id, 'BTC/bitcoin')).status).toBe(200);
  });

  it('a subscriber is the customer with the same email, in any case, whose existing record does not change', async () => {
    const known = await fixture.ask<{ id: string }>('POST', '/v1/customers', {
      email: 'known@example.com',
      fullName: 'Kay Example',
    });
    const planId = await fixture.createPlan();
    expect((await fixture.join(planId, 'KNOWN@example.com')).customerId).toBe(known.id);
    expect(await fixture.ask('GET', `/v1/customers/${known.id}`)).toEqual(known);
    const { id, customerId } = await fixture.join(planId, 'new@example.com');
    expect(await fixture.ask('GET', `/v1/customers/${customerId}`)).toMatchObject({
      email: 'new@example.com',
    });
    // The stored name of a customer is not revealed to the payer.
    expect((await fixture.payments(id))[0]).toMatchObject({ description: 'Payment from new@example.com' });
  });

  it('a subscriber has one active subscription to a plan, even if several requests come at once', async () => {
    const planId = await fixture.createPlan();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => fixture.subscribe(planId, 'twice@example.com')),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    const again = await fixture.subscribe(planId, 'TWICE@example.com');
    expect([again.status, again.body.data.code]).toEqual([409, 'already_subscribed']);
    const mine = (await fixture.subscribers()).filter((row) => row.paymentPlanId === planId);
    expect(mine).toHaveLength(1);
    expect(await fixture.cycles(mine[0]?.id ?? '')).toEqual([0]);
    expect((await fixture.subscribe(await fixture.createPlan(), 'twice@example.com')).status).toBe(200);
  });

  it('subscribers are refused if the plan is off or unknown, the email is invalid, or the customer is blacklisted', async () => {
    const planId = await fixture.createPlan();
    const before = (await fixture.subscribers()).length;
    await fixture.updatePlan(planId, { isActive: false });
    const off = await fixture.subscribe(planId, 'off@example.com');
    expect([off.status, off.body.data.code]).toEqual([409, 'plan_inactive']);
    await fixture.updatePlan(planId, { isActive: true });

    const unknown = await fixture.subscribe('NO-SUCH-PLAN', 'ada@example.com');
    const foreign = await createFixture(server, await server.foreignKey('secret', 'test')).subscribe(
      planId,
      'ada@example.com',
    );
    for (const answer of [unknown, foreign]) {
      expect([answer.status, answer.body.message]).toEqual([404, 'No such payment plan']);
    }
    const bad = await fixture.subscribe(planId, 'nobody');
    expect([bad.status, bad.body.data.param]).toEqual([400, 'email']);

    await fixture.ask('POST', '/v1/customers', { email: 'bad@example.com', isBlacklisted: true });
    const blacklisted = await fixture.subscribe(planId, 'BAD@example.com');
    expect([blacklisted.status, blacklisted.body.data.code]).toEqual([403, 'customer_not_allowed']);
    expect(await fixture.subscribers()).toHaveLength(before);
  });

  it('a subscriber is not stored if cycle 0 cannot be charged', async () => {
    const planId = await fixture.createPlan({ currency: 'EUR' });
    withoutRate.add('EUR');
    const failed = await fixture.subscribe(planId, 'no-rate@example.com');
    expect([failed.status, failed.body.data.code]).toEqual([503, 'rate_unavailable']);
    withoutRate.clear();
    expect((await fixture.subscribers()).filter((row) => row.paymentPlanId === planId)).toEqual([]);
    expect(await fixture.ask('GET', '/v1/customers?email=no-rate@example.com')).toEqual([]);
    expect((await fixture.subscribe(planId, 'no-rate@example.com')).status).toBe(200);
  });

  it('subscribers are listed newest first, by page, customer, isActive and time', async () => {
    const key = await server.foreignKey('secret', 'test');
    const mine = createFixture(server, key);
    const planId = await mine.createPlan();
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      ids.unshift((await mine.join(planId, `${name}@example.com`)).id);
      await mine.advance(60);
    }
    const [three, two, one] = ids;
    const list = async (query: string) => {
      const { body } = await server.api('GET', `/v1/payment-plan-subscribers${query}`, { key });
      const rows = body.data as unknown as { id: string; createdAt: string }[];
      return { ids: rows.map((row) => row.id), rows, meta: body.meta };
    };
    const { rows, meta } = await list('');
    expect(rows.map((row) => row.id)).toEqual(ids);
    expect(meta).toEqual({ pagination: { total: 3, count: 3, from: 1, to: 3 } });
    expect((await list('?skip=1&page=2')).ids).toEqual([two]);
    expect((await list('?customer=TWO@example.com')).ids).toEqual([two]);
    expect(await list('?customer=nobody@example.com')).toMatchObject({
      ids: [],
      meta: { pagination: { total: 0, count: 0, from: 0, to: 0 } },
    });
    expect((await list('?isActive=false')).ids).toEqual([]);
    const second = encodeURIComponent(rows[1]?.createdAt ?? '');
    expect((await list(`?from=${second}`)).ids).toEqual([three, two]);
    expect((await list(`?to=${second}`)).ids).toEqual([two, one]);
    expect((await list(`?from=${second}&to=${second}&isActive=true`)).ids).toEqual([two]);
    expect((await createFixture(server).subscribers()).map((row) => row.id)).not.toContain(one);
  });

  it('subscribers are not found by another merchant, in the other mode, or if they do not exist', async () => {
    const { id } = await fixture.join(await fixture.createPlan(), 'mine@example.com');
    const keys = [
      [await server.foreignKey('secret', 'test'), id],
      [await server.foreignKey('secret', 'live'), id],
      [server.secretKey, 'NO-SUCH-SUBSCRIBER'],
    ] as const;
    for (const [key, wanted] of keys) {
      for (const method of ['GET', 'DELETE']) {
        const answer = await server.api(method, `/v1/payment-plan-subscribers/${wanted}`, { key });
        expect([answer.status, answer.body.message]).toEqual([404, 'No such subscriber']);
      }
    }
    expect((await fixture.subscriber(id)).isActive).toBe(true);
  });

  it('a removed subscriber is not found, not charged, announced as ended, and free to subscribe again', async () => {
    const planId = await fixture.createPlan({ frequency: 'daily' });
    const { id } = await fixture.join(planId, 'gone@example.com');
    const before = await fixture.subscriber(id);
    expect(await fixture.remove(id)).toEqual({ ...before, isActive: false });
    for (const method of ['GET', 'DELETE']) {
      expect((await server.api(method, `/v1/payment-plan-subscribers/${id}`)).status).toBe(404);
    }
    expect((await fixture.subscribers()).map((row) => row.id)).not.toContain(id);
    expect(await fixture.ask('GET', '/v1/payment-plan-subscribers?isActive=false')).toEqual([]);
    expect((await fixture.events(id)).at(-1)).toMatchObject({
      type: 'subscription.ended',
      data: { id, isActive: false, reason: 'removed' },
    });

    // An open payment can still be paid, but nothing more is charged.
    const [open] = await fixture.payments(id);
    await fixture.pay(open?.id ?? '');
    await fixture.advance(3 * 86_400);
    expect(await fixture.cycles(id)).toEqual([0]);
    expect((await fixture.events(id)).map(({ type }) => type)).toEqual([
      'subscription.payment_due',
      'subscription.ended',
    ]);
    expect((await fixture.join(planId, 'gone@example.com')).id).not.toBe(id);
  });
});
