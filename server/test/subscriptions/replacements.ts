/** Payments that a payer makes in place of a cycle's own payment, over real HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSubscriptionStatus } from '../../src/core/subscriptions/subscription-status.js';
import { findPayment } from '../../src/core/payments/store.js';
import { createOutbox } from '../../src/core/webhooks/outbox.js';
import { newId } from '../../src/core/shared/ids.js';
import { clockAt } from '../support/clock.js';
import type { TestEngine } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, type Order } from '../support/shop.js';
import { createFixture, startListener, type Fixture } from './fixture.js';
import { plainData } from '../support/plain-data.js';

const day = 24 * 3600;

export const testReplacements = (engine: TestEngine): unknown =>
  describe(`a replaced payment of a subscription, on ${engine.name}`, () => {
    let server: TestServer;
    let fixture: Fixture;
    let listener: Awaited<ReturnType<typeof startListener>>;
    let customers = 0;

    beforeAll(async () => {
      server = await startServer({
        engine,
        overrides: {
          rates: { latest: () => ({ numerator: 1n, denominator: 1n, source: 'test', at: Date.now() }) },
        },
      });
      fixture = createFixture(server);
      listener = await startListener(server);
    });
    afterAll(async () => {
      await server.stop();
      await listener.stop();
    });

    /** Subscribes a new customer to a new weekly plan, and returns the subscriber's id. */
    async function join(changes: object = {}): Promise<string> {
      customers += 1;
      const planId = await fixture.createPlan({ frequency: 'weekly', ...changes });
      return (await fixture.join(planId, `customer-${customers}@example.com`)).id;
    }

    /** Creates a payment as the widget does, at the plan's price, and returns its id. */
    const replace = async (txRef: string, changes: Order = {}, key = server.publicKey) =>
      (await openShop(server).create({ key, txRef, ...changes })).id;

    /** Cancels the payment of the newest cycle as its payer does. */
    async function cancelNewest(id: string): Promise<void> {
      const payment = await fixture.newest(id);
      const answer = await server.api('PATCH', `/v1/payments/${payment.id}/cancel`, {
        key: server.publicKey,
        body: {},
      });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    }

    const timesPaid = async (id: string) => (await fixture.subscriber(id)).noOfTimesPayed;
    const endings = async (id: string) =>
      (await fixture.events(id)).filter(({ type }) => type === 'subscription.ended');
    const cycles = (id: string) =>
      server.database.reader
        .selectFrom('subscriber_cycles')
        .select(['payment_id', 'outcome'])
        .where('subscriber_id', '=', id)
        .orderBy('cycle')
        .execute();

    /** Applies the success of payments at once, each in its own transaction, as if they had other terms. */
    async function succeed(ids: readonly string[], terms: object = {}): Promise<void> {
      const clock = clockAt(() => Date.now());
      const follow = createSubscriptionStatus(createOutbox(clock, newId, plainData));
      await Promise.all(
        ids.map((id) =>
          server.database.write(async (transaction) => {
            const row = await findPayment(transaction, id);
            if (!row) throw new Error(`There is no payment ${id}`);
            await follow(transaction, {
              ...row,
              currency: 'USDT',
              ...terms,
              status: 'success',
              cancelledBy: undefined,
            });
          }),
        ),
      );
    }

    it('a cycle is paid when the replacement of its cancelled payment is paid', async () => {
      const id = await join();
      await cancelNewest(id);
      const replacement = await replace(`sub_${id}_0:2`);
      expect(await timesPaid(id)).toBe(0);
      await fixture.pay(replacement);
      expect(await timesPaid(id)).toBe(1);
      expect(await cycles(id)).toEqual([{ payment_id: replacement, outcome: 'paid' }]);
    });

    it('a cycle is paid by the replacement of an expired replacement', async () => {
      const id = await join();
      await replace(`sub_${id}_0:2`);
      await fixture.advance(2 * day);
      expect((await fixture.newest(id)).status).toBe('error');
      await fixture.pay(await replace(`sub_${id}_0:3`));
      expect(await timesPaid(id)).toBe(1);
    });

    it('a cycle is paid by a replacement even if its own payment was not cancelled', async () => {
      const id = await join({ numberOfTimesToCharge: 1 });
      const replacement = await replace(`sub_${id}_0:2`);
      await fixture.pay(replacement);
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 1 });
      expect((await endings(id)).at(-1)?.data).toMatchObject({ reason: 'completed', noOfTimesPayed: 1 });
      await cancelNewest(id);
      expect(await cycles(id)).toEqual([{ payment_id: replacement, outcome: 'paid' }]);
      expect(await endings(id)).toHaveLength(1);
    });

    it('a subscription continues if each payment is replaced and the replacement is paid', async () => {
      const id = await join();
      for (let cycle = 0; cycle < 4; cycle += 1) {
        await cancelNewest(id);
        await fixture.pay(await replace(`sub_${id}_${cycle}:2`));
        expect(await fixture.subscriber(id)).toMatchObject({ isActive: true, noOfTimesPayed: cycle + 1 });
        await fixture.advance(7 * day);
      }
      expect(await fixture.cycles(id)).toEqual([0, 1, 2, 3, 4]);
    });

    it('a subscription does not end when its payer cancels a payment after two unpaid ones', async () => {
      const id = await join();
      for (let unpaid = 0; unpaid < 2; unpaid += 1) await fixture.advance(7 * day);
      await cancelNewest(id);
      expect((await fixture.subscriber(id)).isActive).toBe(true);
      await fixture.pay(await replace(`sub_${id}_2:2`));
      await fixture.advance(7 * day);
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: true, noOfTimesPayed: 1 });
      expect(await fixture.cycles(id)).toEqual([0, 1, 2, 3]);
    });

    it('a payment that its payer cancelled and did not replace counts as unpaid when the next one ends', async () => {
      const id = await join();
      for (let unpaid = 0; unpaid < 3; unpaid += 1) {
        await cancelNewest(id);
        await fixture.advance(7 * day);
      }
      expect((await fixture.subscriber(id)).isActive).toBe(true);
      await cancelNewest(id);
      expect((await fixture.subscriber(id)).isActive).toBe(false);
      expect((await endings(id)).map(({ data }) => data['reason'])).toEqual(['unpaid']);
    });

    it('a subscription ends if the merchant cancels its third payment after two unpaid ones', async () => {
      const id = await join();
      for (let unpaid = 0; unpaid < 2; unpaid += 1) await fixture.advance(7 * day);
      await fixture.cancel((await fixture.newest(id)).id);
      expect((await endings(id)).map(({ data }) => data['reason'])).toEqual(['unpaid']);
    });

    it('a paid replacement counts for a subscription that has ended, and the subscription stays ended', async () => {
      const id = await join({ numberOfTimesToCharge: 1 });
      await cancelNewest(id);
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 0 });
      await fixture.pay(await replace(`sub_${id}_0:2`));
      expect(await fixture.subscriber(id)).toMatchObject({ isActive: false, noOfTimesPayed: 1 });
      expect(await endings(id)).toHaveLength(1);
    });

    it('a cycle is unpaid again if the transfer of its replacement leaves the chain, and another replacement can pay it', async () => {
      const id = await join();
      await cancelNewest(id);
      const replacement = await replace(`sub_${id}_0:2`);
      await fixture.pay(replacement);
      await fixture.ask('POST', '/sandbox/reorgs', { network: 'tron', depth: 2, keep: false });
      expect(await timesPaid(id)).toBe(0);
      expect(await cycles(id)).toEqual([{ payment_id: replacement, outcome: 'unpaid' }]);
      const next = await replace(`sub_${id}_0:3`);
      await fixture.pay(next);
      expect(await timesPaid(id)).toBe(1);
      expect(await cycles(id)).toEqual([{ payment_id: next, outcome: 'paid' }]);
    });

    it('a cycle is paid by its own payment if that succeeds after a replacement was lost', async () => {
      const id = await join();
      const own = (await fixture.newest(id)).id;
      await fixture.pay(await replace(`sub_${id}_0:2`));
      await fixture.ask('POST', '/sandbox/reorgs', { network: 'tron', depth: 2, keep: false });
      await fixture.pay(own);
      expect(await timesPaid(id)).toBe(1);
      expect(await cycles(id)).toEqual([{ payment_id: own, outcome: 'paid' }]);
    });

    it('a payment for a paid cycle changes nothing, nor does the loss of that payment', async () => {
      const id = await join();
      const own = (await fixture.newest(id)).id;
      await fixture.pay(own);
      await fixture.mine(5);
      await fixture.pay(await replace(`sub_${id}_0:2`));
      expect(await timesPaid(id)).toBe(1);
      await fixture.ask('POST', '/sandbox/reorgs', { network: 'tron', depth: 2, keep: false });
      expect(await timesPaid(id)).toBe(1);
      expect(await cycles(id)).toEqual([{ payment_id: own, outcome: 'paid' }]);
    });

    it('a cycle is not paid twice by its own payment after a replacement', async () => {
      const id = await join();
      const replacement = await replace(`sub_${id}_0:2`);
      await fixture.pay(replacement);
      await fixture.pay((await fixture.newest(id)).id);
      expect(await timesPaid(id)).toBe(1);
      expect(await cycles(id)).toEqual([{ payment_id: replacement, outcome: 'paid' }]);
    });

    it('a cycle is not paid twice by payments that succeed at the same time', async () => {
      const id = await join();
      const own = (await fixture.newest(id)).id;
      const others = await Promise.all([2, 3, 4].map((attempt) => replace(`sub_${id}_0:${attempt}`)));
      await succeed([own, ...others]);
      expect(await timesPaid(id)).toBe(1);
      expect((await cycles(id)).map(({ outcome }) => outcome)).toEqual(['paid']);
    });

    it.each([
      ['a lower amount', ':2', { amount: '9.99' }],
      ['a higher amount', ':2', { amount: '10.01' }],
      ['another base currency', ':2', { baseCurrency: 'EUR' }],
      ['a reference with two counters', ':2:3', {}],
      ['the counter 1', ':1', {}],
      ['the counter 0', ':0', {}],
      ['a counter with a leading zero', ':02', {}],
      ['a counter that is not a number', ':x', {}],
    ])('a payment with %s does not replace the payment of a cycle', async (_, suffix, changes) => {
      const id = await join();
      const before = await cycles(id);
      await fixture.pay(await replace(`sub_${id}_0${suffix}`, changes));
      expect(await timesPaid(id)).toBe(0);
      expect(await cycles(id)).toEqual(before);
    });

    it.each([
      ['a cycle that does not exist', (id: string) => `sub_${id}_1:2`],
      ['a cycle with a leading zero', (id: string) => `sub_${id}_00:2`],
      ['a cycle number that no database can hold', (id: string) => `sub_${id}_${'9'.repeat(30)}:2`],
      ['a subscriber that does not exist', (id: string) => `sub_${id.replaceAll(/./g, '0')}_0:2`],
      ['a subscriber in lower case', (id: string) => `sub_${id.toLowerCase()}_0:2`],
    ])('a payment for %s does not replace the payment of a cycle', async (_, reference) => {
      const id = await join();
      const before = await cycles(id);
      await fixture.pay(await replace(reference(id)));
      expect(await timesPaid(id)).toBe(0);
      expect(await cycles(id)).toEqual(before);
    });

    it('each replacement has the coins of the plan, and cannot be paid in another', async () => {
      const id = await join({ currencies: ['BTC'] });
      await cancelNewest(id);
      for (const reference of [`sub_${id}_0:2`, `sub_${id}_0:3`]) {
        const replacement = await replace(reference);
        const path = `/v1/payments/checkout/${replacement}`;
        const shown = await server.api('GET', path, { key: server.publicKey });
        expect(shown.body.data['currencies']).toEqual(['BTC']);
        const set = `/v1/payments/${replacement}/currency/set/USDT/tron`;
        const answer = await server.api('PATCH', set, { key: server.publicKey, body: {} });
        expect([answer.status, answer.body.data.code]).toEqual([400, 'unsupported_currency']);
      }
    });

    it('a cycle is not paid in a coin outside its plan by a payment that was created before the cycle was charged', async () => {
      const id = await join({ currencies: ['BTC'] });
      await fixture.advance(7 * day - 3600);
      const early = await replace(`sub_${id}_1:2`);
      await fixture.advance(2 * 3600);
      const before = await cycles(id);
      expect(before).toHaveLength(2);
      await fixture.pay(early);
      expect(await timesPaid(id)).toBe(0);
      expect(await cycles(id)).toEqual(before);
    });

    it('a cycle is paid in a coin of its plan by a payment that was created before the cycle was charged', async () => {
      const id = await join({ currencies: ['USDT', 'BTC'] });
      await fixture.advance(7 * day - 3600);
      const early = await replace(`sub_${id}_1:2`);
      await fixture.advance(2 * 3600);
      await fixture.pay(early);
      expect(await timesPaid(id)).toBe(1);
    });

    it('a payment to another merchant does not replace the payment of a cycle', async () => {
      const id = await join();
      const before = await cycles(id);
      const stranger = await server.foreignKey('secret', 'test');
      await createFixture(server, stranger).pay(await replace(`sub_${id}_0:2`, {}, stranger));
      expect(await timesPaid(id)).toBe(0);
      expect(await cycles(id)).toEqual(before);
    });

    it('a payment in another mode does not replace the payment of a cycle', async () => {
      const id = await join();
      const before = await cycles(id);
      const replacement = await replace(`sub_${id}_0:2`);
      await succeed([replacement], { mode: 'live' });
      expect(await cycles(id)).toEqual(before);
      await succeed([replacement]);
      expect(await cycles(id)).toEqual([{ payment_id: replacement, outcome: 'paid' }]);
    });
  });
