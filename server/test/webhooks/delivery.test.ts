/** Delivery over real HTTP: receivers that are down, slow or refuse, the schedule of tries, rotation, and what is written down. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newId } from '../../src/shared/ids.js';
import { prune } from '../../src/ops/prune.js';
import { createWebhooks } from '../../src/webhooks/webhooks.js';
import { engines } from '../support/engines.js';
import { startReceiver, type Receiver, type ReceiverOptions } from './receiver.js';
import { openShop, type Shop } from './shop.js';

const delays = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

describe.each(engines)('webhooks, on $name', (engine) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop({ engine });
  });
  afterAll(() => shop.server.stop());

  async function receive(options?: ReceiverOptions): Promise<Receiver> {
    const receiver = await startReceiver(options);
    onTestFinished(() => receiver.stop());
    return receiver;
  }
  /** A receiver with an account of its own. */
  async function open(): Promise<{ receiver: Receiver; merchantId: string }> {
    const receiver = await receive();
    return { receiver, merchantId: await shop.merchant(receiver) };
  }
  const only = async (merchantId: string) => {
    const events = await shop.events({ merchantId });
    const [event] = events;
    if (!event || events.length > 1) throw new Error(`${events.length} events`);
    return event;
  };
  const tried = (merchantId: string, times: number) =>
    expect
      .poll(async () => (await shop.events({ merchantId })).flatMap(({ tries }) => tries), { timeout: 5000 })
      .toHaveLength(times);
  /** Moves the clock to when the one event of an account is due. */
  async function advanceToDue(merchantId: string): Promise<void> {
    const { dueAt } = await only(merchantId);
    await shop.advance(Math.max(0, Math.ceil(((dueAt ?? 0) - (await shop.now())) / 1000)));
  }

  it('arrive promptly after the commit, signed', async () => {
    const { receiver, merchantId } = await open();
    const [subject] = await shop.announce(1, { merchantId });
    await expect.poll(() => receiver.received, { timeout: 3000 }).toHaveLength(1);
    expect(receiver.received[0]).toMatchObject({
      isVerified: true,
      event: { data: { id: subject, mode: 'test' } },
    });
    const [event] = await shop.settled(merchantId);
    expect(event).toMatchObject({ id: receiver.received[0]?.id, status: 'delivered', dueAt: null });
  });

  it('are tried ten times over three days by the clock of their mode, then given up, and sent again by hand', async () => {
    const { receiver, merchantId } = await open();
    receiver.answer = { status: 500, body: 'Out of order' };
    await shop.announce(1, { merchantId });
    for (const [index, delay] of delays.entries()) {
      await tried(merchantId, index + 1);
      await expect.poll(async () => (await only(merchantId)).dueAt).toBeGreaterThan(await shop.now());
      const wait = ((await only(merchantId)).dueAt ?? 0) - (await shop.now());
      // Two seconds for what has passed since the try.
      expect(wait).toBeGreaterThan(delay * 900 - 2000);
      expect(wait).toBeLessThan(delay * 1100);
      await advanceToDue(merchantId);
    }
    await tried(merchantId, 10);
    await expect.poll(async () => (await only(merchantId)).status).toBe('failed');
    const event = await only(merchantId);
    expect(event.tries[0]).toMatchObject({
      responseStatus: 500,
      responseExcerpt: 'Out of order',
      error: 'Answered 500',
    });
    expect(event.dueAt).toBeNull();
    expect(new Set(receiver.received.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
    expect(receiver.received.every(({ isVerified }) => isVerified)).toBe(true);

    receiver.answer = { status: 200 };
    await shop.retry(event.id);
    await tried(merchantId, 11);
    expect(receiver.received.at(-1)?.id).toBe(event.id);
    await expect.poll(async () => (await only(merchantId)).status).toBe('delivered');
  });

  it('reach a receiver that was down', async () => {
    const { receiver, merchantId } = await open();
    await receiver.stop();
    await shop.announce(1, { merchantId });
    await tried(merchantId, 1);
    const [down] = (await only(merchantId)).tries;
    expect(down).toMatchObject({
      responseStatus: null,
      error: expect.stringContaining('ECONNREFUSED') as string,
    });
    const up = await receive({ port: receiver.port });
    await advanceToDue(merchantId);
    await expect.poll(() => up.received, { timeout: 5000 }).toHaveLength(1);
    expect(up.received[0]?.id).toBe((await only(merchantId)).id);
  });

  it('that hang are left after 15 seconds, and delay nobody else', { timeout: 40_000 }, async () => {
    const [bad, good] = [await open(), await open()];
    bad.receiver.answer = 'hang';
    await shop.announce(40, bad);
    await expect.poll(() => bad.receiver.received.length, { timeout: 5000 }).toBe(8);
    const began = Date.now();
    const subjects = await shop.announce(40, good);
    await expect.poll(() => good.receiver.received.length, { timeout: 5000 }).toBe(40);
    expect(Date.now() - began).toBeLessThan(5000);
    expect(new Set(good.receiver.received.map(({ event }) => (event.data as { id?: string }).id))).toEqual(
      new Set(subjects),
    );
    // Never more at once than one account may have, however much waits.
    expect(bad.receiver.received.length).toBe(8);
    const failed = async () =>
      (await shop.events({ merchantId: bad.merchantId })).flatMap(({ tries }) => tries);
    await expect.poll(async () => (await failed()).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(8);
    for (const { error, durationMs } of await failed()) {
      expect(error).toBe('No answer within 15 seconds');
      expect(durationMs).toBeGreaterThanOrEqual(15_000);
      expect(durationMs).toBeLessThan(17_000);
    }
  });

  it('do not follow a redirect', async () => {
    const [{ receiver, merchantId }, elsewhere] = [await open(), await receive()];
    receiver.answer = { status: 302, headers: { location: elsewhere.url } };
    await shop.announce(1, { merchantId });
    await tried(merchantId, 1);
    expect((await only(merchantId)).tries[0]).toMatchObject({
      responseStatus: 302,
      error: 'Answered 302: redirects are not followed',
    });
    expect((await only(merchantId)).status).toBe('pending');
    expect(elsewhere.connections()).toBe(0);
  });

  it('wait as long as a receiver asks that has too much to do', async () => {
    const { receiver, merchantId } = await open();
    receiver.answer = { status: 429, headers: { 'retry-after': '3600' } };
    await shop.announce(1, { merchantId });
    await tried(merchantId, 1);
    const { dueAt } = await only(merchantId);
    const wait = (dueAt ?? 0) - (await shop.now());
    expect(wait).toBeGreaterThan(3_590_000);
    expect(wait).toBeLessThanOrEqual(3_600_000);
    receiver.answer = { status: 200 };
    await advanceToDue(merchantId);
    await tried(merchantId, 2);
  });

  it('stop at 410 Gone until the URL is set anew', async () => {
    const { receiver, merchantId } = await open();
    receiver.answer = { status: 500 };
    await shop.announce(3, { merchantId });
    await tried(merchantId, 3);
    receiver.answer = { status: 410 };
    await shop.announce(1, { merchantId });
    await tried(merchantId, 4);
    await expect.poll(() => shop.events({ merchantId, status: 'failed' })).toHaveLength(4);
    await shop.announce(1, { merchantId });
    const [kept] = await shop.events({ merchantId, status: 'failed' });
    expect(kept?.tries).toEqual([]);
    await expect(shop.retry(kept?.id ?? '')).rejects.toMatchObject({ code: 'webhook_not_configured' });

    receiver.answer = { status: 200 };
    await shop.tell(receiver, merchantId);
    await shop.retry(kept?.id ?? '');
    await expect.poll(() => receiver.received.at(-1)?.id, { timeout: 5000 }).toBe(kept?.id);
    expect(receiver.received.at(-1)?.isVerified).toBe(true);
  });

  it('are signed with both secrets for a day after a rotation', async () => {
    const receiver = await receive();
    await shop.tell(receiver);
    const former = receiver.secret;
    const fresh = await shop.rotateSecret();
    expect(fresh).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(fresh).not.toBe(former);
    await shop.announce(1);
    await expect.poll(() => receiver.received, { timeout: 5000 }).toHaveLength(1);
    receiver.secret = fresh;
    await shop.announce(1);
    await expect.poll(() => receiver.received, { timeout: 5000 }).toHaveLength(2);
    for (const { signatures, isVerified } of receiver.received) {
      expect(isVerified).toBe(true);
      expect(signatures).toHaveLength(2);
      for (const signature of signatures) expect(signature).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    }
    const { former_secret_until: until } = await shop.server.database.reader
      .selectFrom('webhook_endpoints')
      .selectAll()
      .where('former_secret', '=', former)
      .executeTakeFirstOrThrow();
    expect(Math.abs((until ?? 0) - Date.now() - 86_400_000)).toBeLessThan(10_000);

    await shop.server.database.write((transaction) =>
      transaction
        .updateTable('webhook_endpoints')
        .set({ former_secret_until: Date.now() })
        .where('former_secret', '=', former)
        .execute(),
    );
    await shop.announce(1);
    await expect.poll(() => receiver.received, { timeout: 5000 }).toHaveLength(3);
    expect(receiver.received.at(-1)).toMatchObject({ isVerified: true, signatures: [expect.any(String)] });
  });

  it('count as delivered by their status, and keep of an answer its beginning without secrets', async () => {
    const { receiver, merchantId } = await open();
    const key = `sk_test_${'k'.repeat(43)}`;
    receiver.answer = () => ({
      status: 200,
      body: `${receiver.secret} ${key} v1,c2lnbmF0dXJl ${'x'.repeat(100_000)}`,
    });
    await shop.announce(1, { merchantId });
    const [event] = await shop.settled(merchantId);
    const [one] = event?.tries ?? [];
    expect(one?.responseExcerpt).toMatch(/^\[redacted\] \[redacted\] \[redacted\] x+$/);
    expect(one?.responseExcerpt).toHaveLength(500);
    expect(one).toMatchObject({ responseStatus: 200, error: null });
  });

  it('that wait for a URL which is removed count as failed', async () => {
    const { receiver, merchantId } = await open();
    receiver.answer = { status: 500 };
    await shop.announce(1, { merchantId });
    await tried(merchantId, 1);
    await shop.tell({ url: '', secret: '' }, merchantId);
    expect((await only(merchantId)).status).toBe('failed');
    await shop.announce(1, { merchantId });
    expect(await shop.events({ merchantId })).toHaveLength(1);
  });

  it('are removed when they are old: delivered ones after 30 days, failed ones after 90', async () => {
    const { receiver, merchantId } = await open();
    await shop.announce(2, { merchantId });
    await shop.settled(merchantId);
    receiver.answer = { status: 410 };
    await shop.announce(1, { merchantId });
    await expect.poll(() => shop.events({ merchantId, status: 'failed' })).toHaveLength(1);
    const statuses = async () => (await shop.events({ merchantId })).map(({ status }) => status);
    const made = (await shop.events({ merchantId })).map(({ createdAt }) => createdAt);
    const pruneAfter = (days: number) =>
      prune(
        {
          database: shop.server.database,
          clock: { now: () => Math.min(...made) + days * 86_400_000 },
          webhooks: shop.server.app.webhooks,
          idempotency: { prune: () => Promise.resolve() },
        },
        new AbortController().signal,
      );
    await pruneAfter(29);
    expect(await statuses()).toEqual(['failed', 'delivered', 'delivered']);
    await pruneAfter(31);
    expect(await statuses()).toEqual(['failed']);
    await pruneAfter(89);
    expect(await statuses()).toEqual(['failed']);
    await pruneAfter(91);
    expect(await statuses()).toEqual([]);
  });

  it('keep their order by number after older ones were removed', async () => {
    const { merchantId } = await open();
    const { database } = shop.server;
    const sequences = async () =>
      (
        await database.reader
          .selectFrom('outbox')
          .select(['id', 'sequence', 'data'])
          .where('merchant_id', '=', merchantId)
          .orderBy('sequence')
          .execute()
      ).map(({ sequence, data }) => {
        expect(JSON.parse(data)).toMatchObject({ sequence });
        return sequence;
      });
    const subject = newId();
    await shop.announceOf(subject, merchantId, 3);
    const [first = 0, second = 0, third = 0] = await sequences();
    expect(second).toBeGreaterThan(first);
    expect(third).toBeGreaterThan(second);
    await shop.settled(merchantId);
    await database.write((transaction) =>
      transaction.deleteFrom('outbox').where('merchant_id', '=', merchantId).execute(),
    );
    await shop.announceOf(subject, merchantId, 1);
    expect((await sequences())[0]).toBeGreaterThan(third);
  });

  it('that wait are counted, with how long the oldest is overdue', async () => {
    const database = shop.server.database.reader;
    const before = await createWebhooks({ now: () => 0 }).figures(database);
    const { receiver, merchantId } = await open();
    receiver.answer = { status: 500 };
    await shop.announce(3, { merchantId });
    await tried(merchantId, 3);
    const due = (await shop.events({ status: 'pending' })).map(({ dueAt }) => dueAt ?? 0);
    const figures = await createWebhooks({ now: () => Math.min(...due) + 1234 }).figures(database);
    expect(figures).toEqual({
      pending: before.pending + 3,
      oldestDueAt: Math.min(...due),
      lagMs: 1234,
    });
    expect((await createWebhooks({ now: () => 0 }).figures(database)).lagMs).toBe(0);
  });
});

describe.each(engines)('many receivers that hang at once, on $name', (engine) => {
  it('leave room for the others', async () => {
    const shop = await openShop({ engine });
    const [bad, good] = [await startReceiver(), await startReceiver()];
    bad.answer = 'hang';
    const accounts = await Promise.all(Array.from({ length: 60 }, () => shop.merchant(bad)));
    for (const merchantId of accounts) await shop.announce(10, { merchantId });
    await expect.poll(() => bad.received.length, { timeout: 10_000 }).toBeGreaterThan(128);
    const merchantId = await shop.merchant(good);
    await shop.announce(20, { merchantId });
    await expect.poll(() => good.received.length, { timeout: 8000 }).toBe(20);
    await shop.server.stop();
    await Promise.all([bad.stop(), good.stop()]);
  });
});

describe.each(engines)('a server that stops, on $name', (engine) => {
  it('gives deliveries a moment, then leaves them to be tried again', async () => {
    const receiver = await startReceiver();
    const shop = await openShop({ engine });
    await shop.tell(receiver);
    receiver.answer = 'hang';
    await shop.announce(2);
    await expect.poll(() => receiver.received, { timeout: 5000 }).toHaveLength(2);
    const { database } = shop.server;
    const kept = await database.reader.selectFrom('outbox').selectAll().execute();
    expect(kept.map(({ status, tries }) => [status, tries])).toEqual([
      ['pending', 0],
      ['pending', 0],
    ]);
    const began = Date.now();
    await shop.server.stop();
    expect(Date.now() - began).toBeLessThan(12_000);
    await receiver.stop();
  });
});
