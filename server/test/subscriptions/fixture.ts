/** The API calls of subscription tests: plans, subscribers, the payments of cycles, and the clock. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Payment } from 'crypto-checkout/contract';
import { expect } from 'vitest';
import type { TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';

export const plan = {
  frequency: 'monthly',
  planName: 'Example membership',
  numberOfTimesToCharge: 12,
  amount: 10,
  currency: 'USD',
  currencies: ['USDT', 'BTC'],
};

export interface Subscriber {
  readonly id: string;
  readonly isActive: boolean;
  readonly noOfTimesPayed: number;
  readonly paymentPlanId: string;
  readonly accountId: string;
  readonly customerId: string;
  readonly createdAt: string;
}

/** An event as it is delivered. */
export interface WebhookEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The subscriber and cycle that a payment was created for; undefined for other payments. */
function chargeOf({ txRef = '' }: Payment): { subscriber: string; cycle: number } | undefined {
  const [, subscriber, cycle] = /^sub_([^_]+)_(\d+)$/.exec(txRef) ?? [];
  return subscriber === undefined ? undefined : { subscriber, cycle: Number(cycle) };
}

/** The cycle that a payment was created for; NaN for other payments. */
export const cycleOf = (payment: Payment) => chargeOf(payment)?.cycle ?? Number.NaN;

export type Fixture = ReturnType<typeof createFixture>;

/** A server that receives and records all webhooks of the first account. */
export async function startListener(server: TestServer) {
  const received: WebhookEvent[] = [];
  const listener = createServer((request, response) => {
    void text(request).then((body) => {
      received.push(JSON.parse(body) as WebhookEvent);
      response.end();
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { merchantId } = server.bootstrapped;
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
  const endpoints = server.app.endpoints;
  await server.database.write((transaction) => endpoints.set(transaction, { merchantId, mode: 'test' }, url));
  return {
    received,
    async stop() {
      listener.close();
      listener.closeAllConnections();
      await once(listener, 'close');
    },
  };
}

/** @param key a secret test key; by default the first account's */
export function createFixture(server: TestServer, key = server.secretKey) {
  const shop = openShop(server, key);
  const ask = <T>(method: string, path: string, body?: object) => shop.ask<T>(method, path, body && { body });

  async function all<T>(path: string): Promise<T[]> {
    const rows: T[] = [];
    for (let page = 1; ; page += 1) {
      const separator = path.includes('?') ? '&' : '?';
      const next = await ask<T[]>('GET', `${path}${separator}skip=100&page=${page}`);
      rows.push(...next);
      if (next.length < 100) return rows;
    }
  }

  const fixture = {
    ask,
    createPlan: async (changes: object = {}) =>
      (await ask<{ id: string }>('POST', '/v1/payment-plans', { ...plan, ...changes })).id,
    updatePlan: (id: string, changes: object) =>
      ask<{ isActive: boolean }>('PATCH', `/v1/payment-plans/${id}`, changes),
    subscribe: (planId: string, email: string) =>
      server.api('POST', `/v1/payment-plan-subscribers/${planId}`, { key, body: { email } }),
    /** Every subscriber, newest first. */
    subscribers: () => all<Subscriber>('/v1/payment-plan-subscribers'),
    subscriber: (id: string) => ask<Subscriber>('GET', `/v1/payment-plan-subscribers/${id}`),
    /** Subscribes a customer to a plan, and returns the new subscriber. */
    async join(planId: string, email = 'ada@example.com') {
      const answer = await fixture.subscribe(planId, email);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      const ids = await all<Subscriber>(`/v1/payment-plan-subscribers?customer=${encodeURIComponent(email)}`);
      const found = ids.find((row) => row.paymentPlanId === planId && row.isActive);
      if (!found) throw new Error('The new subscriber is not listed');
      return found;
    },
    remove: (id: string) => ask<Subscriber>('DELETE', `/v1/payment-plan-subscribers/${id}`),
    /** The payments of all subscribers' cycles, by subscriber, oldest cycle first. */
    async charged() {
      const payments = await all<Payment>('/v1/transactions');
      const ofSubscriber = new Map<string, Payment[]>();
      for (const payment of payments) {
        const id = chargeOf(payment)?.subscriber;
        if (id !== undefined) ofSubscriber.set(id, [...(ofSubscriber.get(id) ?? []), payment]);
      }
      for (const list of ofSubscriber.values()) list.sort((one, other) => cycleOf(one) - cycleOf(other));
      return ofSubscriber;
    },
    payments: async (id: string) => (await fixture.charged()).get(id) ?? [],
    cycles: async (id: string) => (await fixture.payments(id)).map(cycleOf),
    newest: async (id: string) => {
      const payment = (await fixture.payments(id)).at(-1);
      if (!payment) throw new Error('The subscriber was not charged');
      return payment;
    },
    advance: (advanceSeconds: number) => ask<{ now: string }>('POST', '/sandbox/clock', { advanceSeconds }),
    /** Moves the clock to a future time, or by one second if the time has passed. */
    async advanceTo(time: number) {
      const { now } = await fixture.advance(1);
      const seconds = Math.ceil((time - Date.parse(now)) / 1000);
      if (seconds > 0) await fixture.advance(seconds);
    },
    mine: shop.mine,
    lock: (id: string) => shop.choose(id),
    send: shop.send,
    /** Pays a payment in USDT on Tron, until it succeeds. */
    async pay(id: string) {
      const { address, amount } = await shop.choose(id);
      await shop.pay(address, amount);
      expect((await ask<Payment>('GET', `/v1/payments/${id}`)).status).toBe('success');
    },
    cancel: (id: string) => ask('PATCH', `/v1/payments/${id}/cancel`, {}),
    /** The events about a subscriber, oldest first. */
    events: (subscriberId: string): Promise<WebhookEvent[]> => shop.eventsOf(subscriberId),
  };
  return fixture;
}
