/** Subscribers, plans and customers with each other's names and sums in the console, on both engines. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signIn, type TestBrowser } from '../support/browser.js';
import { enginesOfQuick } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

interface Subscription {
  readonly id: string;
  readonly customer: { readonly id: string; readonly email: string };
}

describe.each(enginesOfQuick)('Records that show each other, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let sue: TestBrowser;
  const plans: Record<'oil' | 'wicks', string> = { oil: '', wicks: '' };
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    sue = await signIn(server, 'support', 'sue@shop.example');
    plans.oil = await plan('Lamp oil', 20);
    plans.wicks = await plan('Wicks', 5);
    await paid({ email: 'ada@example.com', name: 'Ada Example' }, 10);
    await subscribe('oil', 'ada@example.com');
    await subscribe('wicks', 'ada@example.com');
    await subscribe('oil', 'ben@example.com');
    await payCharges('ada@example.com', 20);
    await merchant.advance(32 * 86_400);
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  const plan = async (planName: string, amount: number) => {
    const terms = { frequency: 'monthly', numberOfTimesToCharge: 12, currency: 'USD', currencies: ['USDT'] };
    return (
      await merchant.ask<{ id: string }>('POST', '/v1/payment-plans', {
        body: { ...terms, planName, amount },
      })
    ).id;
  };
  const subscribe = (name: keyof typeof plans, email: string) =>
    merchant.ask('POST', `/v1/payment-plan-subscribers/${plans[name]}`, { body: { email } });
  async function paid(customer: object, amount: number): Promise<void> {
    const locked = await merchant.lock({ customer, amount });
    await merchant.pay(locked.address, locked.amount);
  }
  /** Pays the open payments of a customer with this price. */
  async function payCharges(email: string, price: number): Promise<void> {
    const list = await merchant.ask<{ id: string; baseAmount: number; status: string }[]>(
      'GET',
      `/v1/transactions?customer=${email}`,
    );
    for (const { id, baseAmount, status } of list) {
      if (baseAmount !== price || status !== 'in progress') continue;
      const locked = await merchant.choose(id);
      await merchant.pay(locked.address, locked.amount);
    }
  }
  const get = async (path: string, who = sue) => who.send('GET', `/console/api/${path}`);
  const list = async (query: string) => (await get(`subscriptions?${query}`)).body;
  const namesOf = async (query: string) =>
    ((await list(query)).data as unknown as Subscription[]).map(({ customer }) => customer.email);
  const customerId = async (email: string) =>
    (await merchant.ask<{ id: string }[]>('GET', `/v1/customers?email=${email}`))[0]?.id ?? '';

  it('A subscription has the names of its customer and its plan, the sum that was paid, and the next charge', async () => {
    const { data, meta } = await list(`planId=${plans.oil}&customer=ada@example.com`);
    expect(data).toMatchObject([
      {
        isActive: true,
        timesPaid: 1,
        paid: 20,
        customer: { email: 'ada@example.com', fullName: 'Ada Example' },
        plan: { id: plans.oil, planName: 'Lamp oil', amount: 20, currency: 'USD' },
        lastPaidAt: expect.stringMatching(/Z$/) as string,
        nextChargeAt: expect.stringMatching(/Z$/) as string,
      },
    ]);
    expect(meta).toEqual({ pagination: { total: 1, count: 1, from: 1, to: 1 } });
    expect((await list('customer=ben@example.com')).data).toMatchObject([
      { paid: 0, timesPaid: 0, lastPaidAt: null },
    ]);
  });

  it('Subscriptions are listed by plan, by customer, by state and by page', async () => {
    expect(await namesOf('')).toEqual(['ben@example.com', 'ada@example.com', 'ada@example.com']);
    expect(await namesOf(`planId=${plans.oil}`)).toEqual(['ben@example.com', 'ada@example.com']);
    expect(await namesOf(`planId=${plans.oil}&skip=1&page=2`)).toEqual(['ada@example.com']);
    expect(await namesOf('customer=ADA@example.com')).toHaveLength(2);
    expect(await namesOf(`planId=${plans.oil}&isActive=false`)).toEqual([]);
    expect(await namesOf(`planId=${plans.oil}&isActive=true`)).toHaveLength(2);
    expect(await namesOf('customer=nobody@example.com')).toEqual([]);
    expect((await get('subscriptions?isActive=perhaps')).status).toBe(400);
  });

  it('A customer’s payments and a plan’s charges add up, with only those that are paid', async () => {
    expect((await get(`customer-sums/${await customerId('ada@example.com')}`)).body.data).toEqual([
      { currency: 'USD', payments: 2, amount: 30 },
    ]);
    expect((await get(`customer-sums/${await customerId('ben@example.com')}`)).body.data).toEqual([]);
    expect((await get(`plan-sums/${plans.oil}`)).body.data).toEqual({
      active: 2,
      ended: 0,
      paid: { currency: 'USD', payments: 1, amount: 20 },
    });
    // The second month.
    await payCharges('ben@example.com', 20);
    expect((await get(`plan-sums/${plans.oil}`)).body.data).toMatchObject({
      paid: { payments: 2, amount: 60 - 20 },
    });
    expect((await get(`plan-sums/${plans.wicks}`)).body.data).toMatchObject({
      paid: { payments: 0, amount: 0 },
    });
  });

  it('Another shop finds nothing by these ids, as by unknown ones', async () => {
    const { id: foreign } = await server.database.write((transaction) =>
      server.app.merchants.create(transaction, { name: 'Another Shop' }),
    );
    const eve = await signIn(server, 'owner', 'eve@other.example', foreign);
    const ada = await customerId('ada@example.com');
    for (const path of [`customer-sums/${ada}`, 'customer-sums/nobody', `plan-sums/${plans.oil}`]) {
      const { status, body } = await get(path, eve);
      expect([path, status, body.data.code]).toEqual([path, 404, 'not_found']);
    }
    for (const query of ['', `planId=${plans.oil}`, 'customer=ada@example.com'])
      expect((await get(`subscriptions?${query}`, eve)).body.data).toEqual([]);
  });
});
