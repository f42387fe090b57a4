/** A subscription's life over real HTTP, on both engines: charged, paid or not, turned off, and over. */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBilling } from '../../src/billing/billing.js';
import type { RateSource } from '../../src/rates/rates.js';
import { createCharges } from '../../src/subscribers/charges.js';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { createStage, startListener, type Stage } from './stage.js';

const hour = 3600;
const day = 24 * hour;
const dollar = { numerator: 1n, denominator: 1n, source: 'test' };

describe.each(engines)('billing, on $name', (engine) => {
  let server: TestServer;
  let stage: Stage;
  let listener: Awaited<ReturnType<typeof startListener>>;
  const withoutRate = new Set<string>();
  let broken: string | undefined;
  const rates: RateSource = {
    latest(code) {
      if (code === broken) throw new Error('The rates are broken');
      return withoutRate.has(code) ? undefined : { ...dollar, at: Date.now() };
    },
  };

  beforeAll(async () => {
    server = await startServer({ engine, overrides: { rates } });
    stage = createStage(server);
    listener = await startListener(server);
  });
  afterAll(async () => {
    await server.stop();
    await listener.stop();
  });

  const types = async (id: string) => (await stage.told(id)).map(({ type }) => type);
  const payNewest = async (id: string) => stage.pay((await stage.newest(id)).id);

  it('charges each cycle when it is due and not before, and tells the merchant', async () => {
    const { id, createdAt } = await stage.join(await stage.createPlan({ frequency: 'daily' }));
    await stage.advanceTo(Date.parse(createdAt) + (day - 60) * 1000);
    expect(await stage.cycles(id)).toEqual([0]);
    await stage.advance(61);
    expect(await stage.cycles(id)).toEqual([0, 1]);
    await stage.advance(1);
    expect(await stage.cycles(id)).toEqual([0, 1]);
    const payment = await stage.newest(id);
    expect(payment).toMatchObject({ txRef: `sub_${id}_1`, baseAmount: 10, customer: 'ada@example.com' });
    expect((await stage.told(id)).at(-1)).toMatchObject({
      type: 'subscription.payment_due',
      data: {
        id,
        isActive: true,
        cycle: 1,
        payment: { id: payment.id },
        url: `${server.url}/pay/${payment.id}`,
      },
    });
    await expect
      .poll(() => listener.received.filter(({ data }) => data['id'] === id).map(({ data }) => data['cycle']))
      .toEqual(expect.arrayContaining([0, 1]));
  });

  it('counts what was paid at its success, once, and no more when the transfer leaves the chain', async () => {
    const { id } = await stage.join(await stage.createPlan({ numberOfTimesToCharge: 3 }), 'paid@example.com');
    const paid = async () => (await stage.subscriber(id)).noOfTimesPayed;
    const payment = await stage.newest(id);
    const { amount, addressInformation } = await stage.lock(payment.id);
    expect(await paid()).toBe(0);
    const send = () =>
      stage.ask('POST', '/sandbox/transfers', {
        network: 'tron',
        currency: 'USDT',
        address: addressInformation?.address,
        amount,
      });
    await send();
    await stage.mine(1);
    expect(await paid()).toBe(0);
    await stage.mine(1);
    expect(await paid()).toBe(1);
    await stage.mine(3);
    expect(await paid()).toBe(1);
    await stage.ask('POST', '/sandbox/reorgs', { network: 'tron', depth: 5, keep: false });
    expect(await paid()).toBe(0);
    await send();
    await stage.mine(2);
    expect(await paid()).toBe(1);
  });

  it('ends after the number of charges, once the last one is decided', async () => {
    const planId = await stage.createPlan({ frequency: 'daily', numberOfTimesToCharge: 2 });
    const { id } = await stage.join(planId, 'done@example.com');
    await payNewest(id);
    expect(await stage.subscriber(id)).toMatchObject({ isActive: true, noOfTimesPayed: 1 });
    await stage.advance(day);
    expect(await stage.subscriber(id)).toMatchObject({ isActive: true, noOfTimesPayed: 1 });
    await payNewest(id);
    expect(await stage.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 2 });
    await stage.advance(3 * day);
    expect(await stage.cycles(id)).toEqual([0, 1]);
    const due = 'subscription.payment_due';
    expect(await types(id)).toEqual([due, due, 'subscription.ended']);
    expect((await stage.told(id)).at(-1)?.data).toMatchObject({
      id,
      isActive: false,
      noOfTimesPayed: 2,
      reason: 'completed',
    });
    expect((await stage.subscribe(planId, 'done@example.com')).status).toBe(200);
  });

  it('ends after the number of charges even if some were not paid', async () => {
    const planId = await stage.createPlan({ frequency: 'weekly', numberOfTimesToCharge: 2 });
    const { id } = await stage.join(planId, 'half@example.com');
    await payNewest(id);
    await stage.advance(7 * day);
    await stage.advance(2 * day);
    expect(await stage.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 1 });
    expect((await stage.told(id)).at(-1)?.data).toMatchObject({ reason: 'completed' });
  });

  it('ends after three unpaid charges in a row, and a late payment counts without a new beginning', async () => {
    const { id } = await stage.join(await stage.createPlan({ frequency: 'weekly' }), 'unpaid@example.com');
    await stage.advance(7 * day);
    await stage.advance(7 * day);
    const third = await stage.lock((await stage.newest(id)).id);
    expect((await stage.subscriber(id)).isActive).toBe(true);
    await stage.advance(2 * day);
    expect(await stage.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 0 });
    expect((await stage.told(id)).at(-1)).toMatchObject({
      type: 'subscription.ended',
      data: { id, reason: 'unpaid' },
    });
    await stage.ask('POST', '/sandbox/transfers', {
      network: 'tron',
      currency: 'USDT',
      address: third.addressInformation?.address,
      amount: third.amount,
    });
    await stage.mine(2);
    expect(await stage.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 1 });
    await stage.advance(30 * day);
    expect(await stage.cycles(id)).toEqual([0, 1, 2]);
    expect((await types(id)).filter((type) => type === 'subscription.ended')).toHaveLength(1);
  });

  it('goes on when one of three is paid, also when it is the oldest or the newest', async () => {
    const planId = await stage.createPlan({ frequency: 'weekly', numberOfTimesToCharge: 100 });
    const { id } = await stage.join(planId, 'often@example.com');
    for (const isPaid of [false, false, true, false, false, true]) {
      if (isPaid) await payNewest(id);
      else await stage.cancel((await stage.newest(id)).id);
      expect((await stage.subscriber(id)).isActive).toBe(true);
      await stage.advance(7 * day);
    }
    for (let unpaid = 0; unpaid < 2; unpaid += 1) {
      await stage.cancel((await stage.newest(id)).id);
      await stage.advance(7 * day);
    }
    expect(await stage.subscriber(id)).toMatchObject({ isActive: true, noOfTimesPayed: 2 });
    await stage.cancel((await stage.newest(id)).id);
    expect(await stage.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 2 });
  });

  it('waits with the count of unpaid ones for a charge in between that is still open', async () => {
    const planId = await stage.createPlan({ frequency: 'hourly', numberOfTimesToCharge: 100 });
    const { id } = await stage.join(planId, 'hourly@example.com');
    for (let cycle = 1; cycle < 5; cycle += 1) await stage.advance(hour);
    const payments = await stage.payments(id);
    expect(payments).toHaveLength(5);
    for (const cycle of [0, 1, 3]) await stage.cancel(payments[cycle]?.id ?? '');
    expect((await stage.subscriber(id)).isActive).toBe(true);
    await stage.cancel(payments[2]?.id ?? '');
    expect((await stage.subscriber(id)).isActive).toBe(false);
    // What was open then is still payable.
    await stage.pay(payments[4]?.id ?? '');
    expect(await stage.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 1 });
  });

  it('charges nothing while the plan is off, and nothing for that time afterwards', async () => {
    const planId = await stage.createPlan({ frequency: 'daily' });
    const { id } = await stage.join(planId, 'off@example.com');
    await stage.updatePlan(planId, { isActive: false });
    const open = await stage.newest(id);
    await stage.advance(hour);
    await stage.pay(open.id);
    await stage.advance(3 * day);
    expect(await stage.cycles(id)).toEqual([0]);
    expect(await stage.subscriber(id)).toMatchObject({ isActive: true, noOfTimesPayed: 1 });
    await stage.updatePlan(planId, { isActive: true });
    await stage.advance(1);
    expect(await stage.cycles(id)).toEqual([0]);
    await stage.advance(day);
    expect(await stage.cycles(id)).toEqual([0, 4]);
    await stage.updatePlan(planId, { isActive: false });
    await stage.updatePlan(planId, { isActive: true });
    await stage.advance(day);
    expect(await stage.cycles(id)).toEqual([0, 4, 5]);
  });

  it('charges a new amount from the next cycle on', async () => {
    const planId = await stage.createPlan({ frequency: 'daily' });
    const { id } = await stage.join(planId, 'more@example.com');
    await stage.updatePlan(planId, { amount: 12.5 });
    await stage.advance(day);
    expect((await stage.payments(id)).map((payment) => payment.baseAmount)).toEqual([10, 12.5]);
    expect((await stage.newest(id)).totalDue).toBe(12.5);
  });

  it('asks the customer by the email of now, and not while blacklisted', async () => {
    const planId = await stage.createPlan({ frequency: 'daily' });
    const { id, customerId } = await stage.join(planId, 'before@example.com');
    const update = (change: object) => stage.ask('PATCH', `/v1/customers/${customerId}`, change);
    await update({ email: 'after@example.com' });
    await stage.advance(day);
    expect((await stage.newest(id)).customer).toBe('after@example.com');
    await update({ isBlacklisted: true });
    await stage.advance(2 * day);
    expect(await stage.cycles(id)).toEqual([0, 1]);
    await update({ isBlacklisted: false });
    await stage.advance(day);
    expect(await stage.cycles(id)).toEqual([0, 1, 4]);
  });

  it('tries again what could not be charged, and delays nobody by it', async () => {
    const daily = { frequency: 'daily' };
    const stuck = await stage.join(await stage.createPlan({ ...daily, currency: 'EUR' }), 'a@example.com');
    const failing = await stage.join(await stage.createPlan({ ...daily, currency: 'GBP' }), 'b@example.com');
    const fine = await stage.join(await stage.createPlan(daily), 'c@example.com');
    const before = await server.database.reader
      .selectFrom('outbox')
      .select((e) => e.fn.countAll<number | string>().as('count'))
      .where('subject_id', 'in', [stuck.id, failing.id])
      .executeTakeFirstOrThrow();
    expect(Number(before.count)).toBe(2);
    withoutRate.add('EUR');
    broken = 'GBP';
    await stage.advance(day);
    withoutRate.clear();
    broken = undefined;
    expect(await stage.cycles(fine.id)).toEqual([0, 1]);
    for (const { id } of [stuck, failing]) {
      expect(await stage.cycles(id)).toEqual([0]);
      expect(await types(id)).toEqual(['subscription.payment_due']);
    }
    await stage.advance(30);
    for (const { id } of [stuck, failing]) {
      expect(await stage.cycles(id)).toEqual([0, 1]);
      expect(await types(id)).toHaveLength(2);
    }
    await stage.advance(30);
    expect(await stage.cycles(stuck.id)).toEqual([0, 1]);
  });

  it('passes over a cycle that could not be charged until the next was due', async () => {
    const planId = await stage.createPlan({ frequency: 'daily', currency: 'EUR' });
    const { id } = await stage.join(planId, 'passed@example.com');
    withoutRate.add('EUR');
    await stage.advance(day);
    withoutRate.clear();
    await stage.advance(day);
    expect(await stage.cycles(id)).toEqual([0, 2]);
  });

  it('cannot charge a cycle twice, even if its schedule is wound back', async () => {
    const { id } = await stage.join(await stage.createPlan({ frequency: 'daily' }), 'back@example.com');
    await stage.advance(day);
    expect(await stage.cycles(id)).toEqual([0, 1]);
    const payments = async () =>
      (await server.database.reader.selectFrom('payments').select('id').execute()).length;
    const [count, told] = [await payments(), await types(id)];
    await server.database.write((transaction) =>
      transaction
        .updateTable('subscribers')
        .set({ next_cycle: 1, charge_at: 0, times_charged: 1 })
        .where('id', '=', id)
        .execute(),
    );
    await stage.advance(1);
    expect(await payments()).toBe(count);
    expect(await types(id)).toEqual(told);
    // It is not the payment's reference alone that prevents it.
    const { payment } = await stage.ask<{ payment: { id: string } }>('POST', '/v1/payments/checkout', {
      amount: 10,
      baseCurrency: 'USD',
    });
    await expect(
      server.database.write((transaction) =>
        transaction
          .insertInto('subscriber_cycles')
          .values({ subscriber_id: id, cycle: 1, payment_id: payment.id, outcome: 'open' })
          .execute(),
      ),
    ).rejects.toThrow(/unique|duplicate/i);
    await stage.advance(day);
    expect(await stage.cycles(id)).toEqual([0, 1, 2]);
  });

  it('leaves nothing of a charge whose transaction fails at its end, and makes it later', async () => {
    const { id } = await stage.join(await stage.createPlan({ frequency: 'daily' }), 'fails@example.com');
    const { now } = await stage.advance(0);
    // Ahead of the server's clock, so that its own job finds nothing to do.
    let ahead = Date.parse(now) + day * 1000;
    const clock = { now: () => ahead };
    const { payments, paymentPlans, checkoutUrl } = server.services;
    let told = 0;
    const announce = () => {
      told += 1;
      return told === 1 ? Promise.reject(new Error('The disk is full')) : Promise.resolve();
    };
    const { database } = server;
    const charges = createCharges({
      database,
      clock,
      paymentPlans,
      payments,
      outbox: { announce },
      checkoutUrl,
    });
    const others = (await stage.subscribers()).filter((row) => row.id !== id && row.isActive);
    for (const other of others) await stage.remove(other.id);
    const billing = createBilling({ database, clock, charges, log: pino({ level: 'silent' }) });
    const run = () => billing.run(new AbortController().signal);
    await run();
    expect([told, await stage.cycles(id)]).toEqual([1, [0]]);
    await run();
    expect(told).toBe(1);
    ahead += 30_000;
    await run();
    expect([told, await stage.cycles(id)]).toEqual([2, [0, 1]]);
    const cycles = await database.reader
      .selectFrom('subscriber_cycles')
      .select('cycle')
      .where('subscriber_id', '=', id)
      .orderBy('cycle')
      .execute();
    expect(cycles.map(({ cycle }) => cycle)).toEqual([0, 1]);
  });
});
