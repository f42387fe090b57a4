/** The life of a subscription over real HTTP: charged, paid or unpaid, turned off, and ended. */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/core/shared/ids.js';
import { createBilling } from '../../src/core/subscriptions/billing.js';
import type { RateSource } from '../../src/core/money/rates.js';
import { createCharges } from '../../src/core/subscriptions/charges.js';
import type { TestEngine } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';
import { createFixture, startListener, type Fixture } from './fixture.js';
import { clockAt } from '../support/clock.js';

const hour = 3600;
const day = 24 * hour;
const dollar = { numerator: 1n, denominator: 1n, source: 'test' };

export const testBilling = (engine: TestEngine): unknown =>
  describe(`billing, on ${engine.name}`, () => {
    let server: TestServer;
    let fixture: Fixture;
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
      fixture = createFixture(server);
      listener = await startListener(server);
    });
    afterAll(async () => {
      await server.stop();
      await listener.stop();
    });

    const types = async (id: string) => (await fixture.events(id)).map(({ type }) => type);
    const payNewest = async (id: string) => fixture.pay((await fixture.newest(id)).id);

    it('each cycle is charged when it is due and not before, and the merchant is notified', async () => {
      const { id, createdAt } = await fixture.join(await fixture.createPlan({ frequency: 'daily' }));
      await fixture.advanceTo(Date.parse(createdAt) + (day - 60) * 1000);
      expect(await fixture.cycles(id)).toEqual([0]);
      await fixture.advance(61);
      expect(await fixture.cycles(id)).toEqual([0, 1]);
      await fixture.advance(1);
      expect(await fixture.cycles(id)).toEqual([0, 1]);
      const payment = await fixture.newest(id);
      expect(payment).toMatchObject({ txRef: `sub_${id}_1`, baseAmount: 10, customer: 'ada@example.com' });
      expect((await fixture.events(id)).at(-1)).toMatchObject({
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
        .poll(() =>
          listener.received.filter(({ data }) => data['id'] === id).map(({ data }) => data['cycle']),
        )
        .toEqual(expect.arrayContaining([0, 1]));
    });

    it('a charge creates a payment that can still be paid, although another server has moved the test clock', async () => {
      const planId = await fixture.createPlan({ frequency: 'daily' });
      const { id, createdAt } = await fixture.join(planId, 'moved@example.com');
      await fixture.advance(1);
      await server.database.write((transaction) =>
        transaction
          .updateTable('test_clocks')
          .set((e) => ({ offset_ms: e('offset_ms', '+', 2 * day * 1000) }))
          .where('merchant_id', '=', server.bootstrapped.merchantId)
          .execute(),
      );
      await server.app.billing.run(new AbortController().signal);
      await fixture.advance(1);
      const payment = await fixture.newest(id);
      expect(payment.txRef).toBe(`sub_${id}_2`);
      expect(Date.parse(payment.createdAt)).toBeGreaterThanOrEqual(Date.parse(createdAt) + 2 * day * 1000);
      expect(payment.status).toBe('in progress');
    });

    it('a payment of a subscription counts once it succeeds, and no longer if its transfer leaves the chain', async () => {
      const { id } = await fixture.join(
        await fixture.createPlan({ numberOfTimesToCharge: 3 }),
        'paid@example.com',
      );
      const paid = async () => (await fixture.subscriber(id)).noOfTimesPayed;
      const payment = await fixture.newest(id);
      const { address, amount } = await fixture.lock(payment.id);
      expect(await paid()).toBe(0);
      await fixture.send(address, amount);
      await fixture.mine(1);
      expect(await paid()).toBe(0);
      await fixture.mine(1);
      expect(await paid()).toBe(1);
      await fixture.mine(3);
      expect(await paid()).toBe(1);
      await fixture.ask('POST', '/sandbox/reorgs', { network: 'tron', depth: 5, keep: false });
      expect(await paid()).toBe(0);
      await fixture.send(address, amount);
      await fixture.mine(2);
      expect(await paid()).toBe(1);
    });

    it('a subscription ends after its number of charges, once the last one is paid', async () => {
      const planId = await fixture.createPlan({ frequency: 'daily', numberOfTimesToCharge: 2 });
      const { id } = await fixture.join(planId, 'done@example.com');
      await payNewest(id);
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: true, noOfTimesPayed: 1 });
      await fixture.advance(day);
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: true, noOfTimesPayed: 1 });
      await payNewest(id);
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 2 });
      await fixture.advance(3 * day);
      expect(await fixture.cycles(id)).toEqual([0, 1]);
      const due = 'subscription.payment_due';
      expect(await types(id)).toEqual([due, due, 'subscription.ended']);
      expect((await fixture.events(id)).at(-1)?.data).toMatchObject({
        id,
        isActive: false,
        noOfTimesPayed: 2,
        reason: 'completed',
      });
      expect((await fixture.subscribe(planId, 'done@example.com')).status).toBe(200);
    });

    it('a subscription ends after its number of charges even if some were not paid', async () => {
      const planId = await fixture.createPlan({ frequency: 'weekly', numberOfTimesToCharge: 2 });
      const { id } = await fixture.join(planId, 'half@example.com');
      await payNewest(id);
      await fixture.advance(7 * day);
      await fixture.advance(2 * day);
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 1 });
      expect((await fixture.events(id)).at(-1)?.data).toMatchObject({ reason: 'completed' });
    });

    it('a subscription ends after three unpaid charges in a row, and stays ended even if a late payment still counts', async () => {
      const { id } = await fixture.join(
        await fixture.createPlan({ frequency: 'weekly' }),
        'unpaid@example.com',
      );
      await fixture.advance(7 * day);
      await fixture.advance(7 * day);
      const third = await fixture.lock((await fixture.newest(id)).id);
      expect((await fixture.subscriber(id)).isActive).toBe(true);
      await fixture.advance(2 * day);
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 0 });
      expect((await fixture.events(id)).at(-1)).toMatchObject({
        type: 'subscription.ended',
        data: { id, reason: 'unpaid' },
      });
      await fixture.send(third.address, third.amount);
      await fixture.mine(2);
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 1 });
      await fixture.advance(30 * day);
      expect(await fixture.cycles(id)).toEqual([0, 1, 2]);
      expect((await types(id)).filter((type) => type === 'subscription.ended')).toHaveLength(1);
    });

    it('a subscription continues if one of three charges is paid, even if it is the oldest or the newest', async () => {
      const planId = await fixture.createPlan({ frequency: 'weekly', numberOfTimesToCharge: 100 });
      const { id } = await fixture.join(planId, 'often@example.com');
      for (const isPaid of [false, false, true, false, false, true]) {
        if (isPaid) await payNewest(id);
        else await fixture.cancel((await fixture.newest(id)).id);
        expect((await fixture.subscriber(id)).isActive).toBe(true);
        await fixture.advance(7 * day);
      }
      for (let unpaid = 0; unpaid < 2; unpaid += 1) {
        await fixture.cancel((await fixture.newest(id)).id);
        await fixture.advance(7 * day);
      }
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: true, noOfTimesPayed: 2 });
      await fixture.cancel((await fixture.newest(id)).id);
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 2 });
    });

    it('unpaid charges do not count as in a row while one between them is still open', async () => {
      const planId = await fixture.createPlan({ frequency: 'hourly', numberOfTimesToCharge: 100 });
      const { id } = await fixture.join(planId, 'hourly@example.com');
      for (let cycle = 1; cycle < 5; cycle += 1) await fixture.advance(hour);
      const payments = await fixture.payments(id);
      expect(payments).toHaveLength(5);
      for (const cycle of [0, 1, 3]) await fixture.cancel(payments[cycle]?.id ?? '');
      expect((await fixture.subscriber(id)).isActive).toBe(true);
      await fixture.cancel(payments[2]?.id ?? '');
      expect((await fixture.subscriber(id)).isActive).toBe(false);
      // A payment that was open at the end can still be paid.
      await fixture.pay(payments[4]?.id ?? '');
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 1 });
    });

    it('nothing is charged while the plan is off, nor for that time afterwards', async () => {
      const planId = await fixture.createPlan({ frequency: 'daily' });
      const { id } = await fixture.join(planId, 'off@example.com');
      await fixture.updatePlan(planId, { isActive: false });
      const open = await fixture.newest(id);
      await fixture.advance(hour);
      await fixture.pay(open.id);
      await fixture.advance(3 * day);
      expect(await fixture.cycles(id)).toEqual([0]);
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: true, noOfTimesPayed: 1 });
      await fixture.updatePlan(planId, { isActive: true });
      await fixture.advance(1);
      expect(await fixture.cycles(id)).toEqual([0]);
      await fixture.advance(day);
      expect(await fixture.cycles(id)).toEqual([0, 4]);
      await fixture.updatePlan(planId, { isActive: false });
      await fixture.updatePlan(planId, { isActive: true });
      await fixture.advance(day);
      expect(await fixture.cycles(id)).toEqual([0, 4, 5]);
    });

    it('a changed amount is charged from the next cycle on', async () => {
      const planId = await fixture.createPlan({ frequency: 'daily' });
      const { id } = await fixture.join(planId, 'more@example.com');
      await fixture.updatePlan(planId, { amount: 12.5 });
      await fixture.advance(day);
      expect((await fixture.payments(id)).map((payment) => payment.baseAmount)).toEqual([10, 12.5]);
      expect((await fixture.newest(id)).totalDue).toBe(12.5);
    });

    it("a charge uses the customer's current email, and a blacklisted customer is not charged", async () => {
      const planId = await fixture.createPlan({ frequency: 'daily' });
      const { id, customerId } = await fixture.join(planId, 'before@example.com');
      const update = (change: object) => fixture.ask('PATCH', `/v1/customers/${customerId}`, change);
      await update({ email: 'after@example.com' });
      await fixture.advance(day);
      expect((await fixture.newest(id)).customer).toBe('after@example.com');
      await update({ isBlacklisted: true });
      await fixture.advance(2 * day);
      expect(await fixture.cycles(id)).toEqual([0, 1]);
      await update({ isBlacklisted: false });
      await fixture.advance(day);
      expect(await fixture.cycles(id)).toEqual([0, 1, 4]);
    });

    it('a failed charge is retried, without delaying the others', async () => {
      const daily = { frequency: 'daily' };
      const stuck = await fixture.join(
        await fixture.createPlan({ ...daily, currency: 'EUR' }),
        'a@example.com',
      );
      const failing = await fixture.join(
        await fixture.createPlan({ ...daily, currency: 'GBP' }),
        'b@example.com',
      );
      const fine = await fixture.join(await fixture.createPlan(daily), 'c@example.com');
      const before = await server.database.reader
        .selectFrom('outbox')
        .select((e) => e.fn.countAll<number | string>().as('count'))
        .where('subject_id', 'in', [stuck.id, failing.id])
        .executeTakeFirstOrThrow();
      expect(Number(before.count)).toBe(2);
      withoutRate.add('EUR');
      broken = 'GBP';
      await fixture.advance(day);
      withoutRate.clear();
      broken = undefined;
      expect(await fixture.cycles(fine.id)).toEqual([0, 1]);
      for (const { id } of [stuck, failing]) {
        expect(await fixture.cycles(id)).toEqual([0]);
        expect(await types(id)).toEqual(['subscription.payment_due']);
      }
      await fixture.advance(30);
      for (const { id } of [stuck, failing]) {
        expect(await fixture.cycles(id)).toEqual([0, 1]);
        expect(await types(id)).toHaveLength(2);
      }
      await fixture.advance(30);
      expect(await fixture.cycles(stuck.id)).toEqual([0, 1]);
    });

    it('a cycle that could not be charged before the next one was due is skipped', async () => {
      const planId = await fixture.createPlan({ frequency: 'daily', currency: 'EUR' });
      const { id } = await fixture.join(planId, 'passed@example.com');
      withoutRate.add('EUR');
      await fixture.advance(day);
      withoutRate.clear();
      await fixture.advance(day);
      expect(await fixture.cycles(id)).toEqual([0, 2]);
    });

    it('a cycle is never charged twice, even if the schedule is set back', async () => {
      const { id } = await fixture.join(await fixture.createPlan({ frequency: 'daily' }), 'back@example.com');
      await fixture.advance(day);
      expect(await fixture.cycles(id)).toEqual([0, 1]);
      const payments = async () =>
        (await server.database.reader.selectFrom('payments').select('id').execute()).length;
      const [count, published] = [await payments(), await types(id)];
      await server.database.write((transaction) =>
        transaction
          .updateTable('subscribers')
          .set({ next_cycle: 1, charge_at: 0, times_charged: 1 })
          .where('id', '=', id)
          .execute(),
      );
      await fixture.advance(1);
      expect(await payments()).toBe(count);
      expect(await types(id)).toEqual(published);
      // The payment's reference is not the only thing that prevents it.
      const payment = await openShop(server).create();
      await expect(
        server.database.write((transaction) =>
          transaction
            .insertInto('subscriber_cycles')
            .values({ subscriber_id: id, cycle: 1, payment_id: payment.id, outcome: 'open' })
            .execute(),
        ),
      ).rejects.toThrow(/unique|duplicate/i);
      await fixture.advance(day);
      expect(await fixture.cycles(id)).toEqual([0, 1, 2]);
    });

    it('a charge whose transaction fails at its end leaves nothing behind, and is made later', async () => {
      const { id } = await fixture.join(
        await fixture.createPlan({ frequency: 'daily' }),
        'fails@example.com',
      );
      const { now } = await fixture.advance(0);
      // Later than the server's clock, so that the server's own job finds nothing to do.
      let time = Date.parse(now) + day * 1000;
      const ahead = Date.parse(now) - Date.now();
      const clock = { ...clockAt(() => time), real: () => time - ahead };
      const { customers, payments, paymentPlans } = server.app;
      let published = 0;
      let isFull = true;
      const add = () => {
        if (isFull) return Promise.reject(new Error('The disk is full'));
        published += 1;
        return Promise.resolve();
      };
      const { database } = server;
      const charges = createCharges({
        customers,
        paymentPlans,
        payments,
        outbox: { add },
        checkoutUrl: 'https://pay.example.com/pay',
      });
      const others = (await fixture.subscribers()).filter((row) => row.id !== id && row.isActive);
      for (const other of others) await fixture.remove(other.id);
      const billing = createBilling(
        { ...server.app, database, clock, newId, log: pino({ level: 'silent' }) },
        charges,
      );
      const run = () => billing.run(new AbortController().signal);
      await run();
      expect(await fixture.cycles(id)).toEqual([0]);
      isFull = false;
      await run();
      expect(published).toBe(0);
      time += 30_000;
      await run();
      expect([published, await fixture.cycles(id)]).toEqual([1, [0, 1]]);
      const cycles = await database.reader
        .selectFrom('subscriber_cycles')
        .select('cycle')
        .where('subscriber_id', '=', id)
        .orderBy('cycle')
        .execute();
      expect(cycles.map(({ cycle }) => cycle)).toEqual([0, 1]);
    });
  });
