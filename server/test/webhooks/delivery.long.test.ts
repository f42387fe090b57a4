/** Webhook delivery over real HTTP: failing receivers, the retry schedule, secret rotation and recorded attempts. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newId } from '../../src/core/shared/ids.js';
import { prune } from '../../src/core/ops/prune.js';
import { createWebhooks } from '../../src/core/webhooks/webhooks.js';
import { enginesOfSoak } from '../support/engines.js';
import { receive, startReceiver, type Receiver } from './receiver.js';
import { openWebhookShop, type WebhookShop } from './webhook-shop.js';
import { clockAt } from '../support/clock.js';
import { plainData } from '../support/plain-data.js';

const delays = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
/** Long enough for a busy machine to deliver all the other events before an attempt ends. */
const timeoutMs = 15_000;

/** Epoch milliseconds; not a number if it is null. */
const timeOf = (iso: string | null | undefined) => Date.parse(iso ?? '');

interface PreviousSecret {
  readonly secret: string;
  readonly until: number;
}

describe.each(enginesOfSoak)('webhooks, on $name', (engine) => {
  let shop: WebhookShop;
  beforeAll(async () => {
    shop = await openWebhookShop({ engine, overrides: { webhooks: { timeoutMs } } });
  });
  afterAll(() => shop.server.stop());

  /** A receiver with its own account. */
  async function openEndpoint(): Promise<{ receiver: Receiver; merchantId: string }> {
    const receiver = await receive();
    const merchantId = await shop.merchant(receiver);
    // An event that is still pending would be retried while other tests count it.
    onTestFinished(() => shop.setEndpoint({ url: '', secret: '' }, merchantId));
    return { receiver, merchantId };
  }
  const onlyEvent = async (merchantId: string) => {
    const events = await shop.events({ merchantId });
    const [event] = events;
    if (!event || events.length > 1) throw new Error(`Expected one event, found ${events.length}`);
    return event;
  };
  const attemptsOf = async (merchantId: string) =>
    (await shop.events({ merchantId })).flatMap(({ tries }) => tries);
  const toHaveAttempts = (merchantId: string, count: number) =>
    expect.poll(() => attemptsOf(merchantId), { timeout: 5000 }).toHaveLength(count);
  /** Moves the clock to the time when an account's only event is due. */
  async function advanceToDue(merchantId: string): Promise<void> {
    const { dueAt } = await onlyEvent(merchantId);
    const seconds = Math.max(0, Math.ceil((timeOf(dueAt) - shop.now(merchantId)) / 1000));
    await shop.advance(seconds, merchantId);
  }

  /** Changes the replaced secrets of the first account's endpoint, as time would. */
  const changePreviousSecrets = (change: (secrets: PreviousSecret[]) => PreviousSecret[]) =>
    shop.server.database.write(async (transaction) => {
      const { merchantId } = shop.server.bootstrapped;
      const row = await transaction
        .selectFrom('webhook_endpoints')
        .selectAll()
        .where('merchant_id', '=', merchantId)
        .executeTakeFirstOrThrow();
      await transaction
        .updateTable('webhook_endpoints')
        .set({ former_secrets: JSON.stringify(change(JSON.parse(row.former_secrets) as PreviousSecret[])) })
        .where('merchant_id', '=', merchantId)
        .execute();
    });

  it('Webhooks arrive promptly after the commit, signed', async () => {
    const { receiver, merchantId } = await openEndpoint();
    const [subject] = await shop.publish(1, { merchantId });
    await expect.poll(() => receiver.received, { timeout: 3000 }).toHaveLength(1);
    expect(receiver.received[0]).toMatchObject({
      isVerified: true,
      event: { data: { id: subject, mode: 'test' } },
    });
    const [event] = await shop.settled(merchantId);
    expect(event).toMatchObject({ id: receiver.received[0]?.id, status: 'delivered', dueAt: null });
  });

  it('The webhooks of a burst follow each other, without waiting for the poll between eight and the next eight', async () => {
    const { receiver, merchantId } = await openEndpoint();
    await shop.publish(160, { merchantId });
    // If each eight waited for the next poll, it would take 20 s.
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(160);
  });

  it('Webhooks that another process publishes arrive within seconds, too', async () => {
    const { receiver, merchantId } = await openEndpoint();
    const subjects = await shop.publish(3, { merchantId, fromElsewhere: true });
    await expect.poll(() => receiver.received, { timeout: 5000 }).toHaveLength(3);
    const ids = receiver.received.map(({ event }) => (event.data as { id?: string }).id);
    expect(ids.sort()).toEqual(subjects.sort());
  });

  it('A webhook is attempted ten times in three days of its merchant’s clock, then fails, and can be retried by hand', async () => {
    const { receiver, merchantId } = await openEndpoint();
    receiver.answer = { status: 500, body: 'Out of order' };
    await shop.publish(1, { merchantId });
    for (const [index, delay] of delays.entries()) {
      await toHaveAttempts(merchantId, index + 1);
      await expect
        .poll(async () => timeOf((await onlyEvent(merchantId)).dueAt))
        .toBeGreaterThan(shop.now(merchantId));
      const { dueAt, tries } = await onlyEvent(merchantId);
      // Attempts are recorded by the real clock, which the merchant's clock is ahead of.
      const aheadMs = shop.now(merchantId) - Date.now();
      const triedAt = timeOf(tries.at(-1)?.triedAt) + aheadMs;
      expect(timeOf(dueAt) - triedAt).toBeGreaterThanOrEqual(delay * 900);
      expect(timeOf(dueAt) - shop.now(merchantId)).toBeLessThan(delay * 1100);
      await advanceToDue(merchantId);
    }
    await toHaveAttempts(merchantId, 10);
    await expect.poll(async () => (await onlyEvent(merchantId)).status).toBe('failed');
    const event = await onlyEvent(merchantId);
    expect(event.tries[0]).toMatchObject({
      responseStatus: 500,
      responseExcerpt: 'Out of order',
      error: 'Returned HTTP 500',
    });
    expect(event.dueAt).toBeNull();
    expect(new Set(receiver.received.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
    expect(receiver.received.every(({ isVerified }) => isVerified)).toBe(true);

    receiver.answer = { status: 200 };
    await shop.retry(event.id);
    await toHaveAttempts(merchantId, 11);
    expect(receiver.received.at(-1)?.id).toBe(event.id);
    await expect.poll(async () => (await onlyEvent(merchantId)).status).toBe('delivered');
  });

  it('A webhook reaches a receiver that was down', async () => {
    const { receiver, merchantId } = await openEndpoint();
    await receiver.stop();
    await shop.publish(1, { merchantId });
    await toHaveAttempts(merchantId, 1);
    const [down] = (await onlyEvent(merchantId)).tries;
    expect(down).toMatchObject({
      responseStatus: null,
      error: expect.stringContaining('ECONNREFUSED') as string,
    });
    const up = await receive({ port: receiver.port });
    await advanceToDue(merchantId);
    await expect.poll(() => up.received, { timeout: 5000 }).toHaveLength(1);
    expect(up.received[0]?.id).toBe((await onlyEvent(merchantId)).id);
  });

  it(
    'Webhooks to a receiver that hangs are aborted after the timeout, and delay nobody else',
    { timeout: 60_000 },
    async () => {
      const [bad, good] = [await openEndpoint(), await openEndpoint()];
      bad.receiver.answer = 'hang';
      await shop.publish(40, bad);
      await expect.poll(() => bad.receiver.received.length, { timeout: 5000 }).toBe(8);
      const startedAt = Date.now();
      const subjects = await shop.publish(40, good);
      await expect.poll(() => good.receiver.received.length, { timeout: 12_000 }).toBe(40);
      expect(Date.now() - startedAt).toBeLessThan(12_000);
      expect(new Set(good.receiver.received.map(({ event }) => (event.data as { id?: string }).id))).toEqual(
        new Set(subjects),
      );
      // The limit per account holds, however many events are pending.
      expect(bad.receiver.received.length).toBe(8);
      const failed = () => attemptsOf(bad.merchantId);
      await expect.poll(async () => (await failed()).length, { timeout: 30_000 }).toBeGreaterThanOrEqual(8);
      for (const { error, durationMs } of await failed()) {
        expect(error).toBe('No response within 15 seconds');
        expect(durationMs).toBeGreaterThanOrEqual(timeoutMs);
        expect(durationMs).toBeLessThan(timeoutMs + 8000);
      }
    },
  );

  it('A webhook does not follow a redirect', async () => {
    const [{ receiver, merchantId }, elsewhere] = [await openEndpoint(), await receive()];
    receiver.answer = { status: 302, headers: { location: elsewhere.url } };
    await shop.publish(1, { merchantId });
    await toHaveAttempts(merchantId, 1);
    expect((await onlyEvent(merchantId)).tries[0]).toMatchObject({
      responseStatus: 302,
      error: 'Returned HTTP 302: redirects are not followed',
    });
    expect((await onlyEvent(merchantId)).status).toBe('pending');
    expect(elsewhere.connections()).toBe(0);
  });

  it('The next attempt waits as long as the receiver’s Retry-After asks', async () => {
    const { receiver, merchantId } = await openEndpoint();
    receiver.answer = { status: 429, headers: { 'retry-after': '3600' } };
    await shop.publish(1, { merchantId });
    await toHaveAttempts(merchantId, 1);
    const { dueAt } = await onlyEvent(merchantId);
    const waitMs = timeOf(dueAt) - shop.now(merchantId);
    expect(waitMs).toBeGreaterThan(3_590_000);
    expect(waitMs).toBeLessThanOrEqual(3_600_000);
    receiver.answer = { status: 200 };
    await advanceToDue(merchantId);
    await toHaveAttempts(merchantId, 2);
  });

  it('Deliveries stop at 410 Gone until the URL is set again', async () => {
    const { receiver, merchantId } = await openEndpoint();
    receiver.answer = { status: 500 };
    await shop.publish(3, { merchantId });
    await toHaveAttempts(merchantId, 3);
    receiver.answer = { status: 410 };
    await shop.publish(1, { merchantId });
    await toHaveAttempts(merchantId, 4);
    await expect.poll(() => shop.events({ merchantId, status: 'failed' })).toHaveLength(4);
    await shop.publish(1, { merchantId });
    const [kept] = await shop.events({ merchantId, status: 'failed' });
    expect(kept?.tries).toEqual([]);
    await expect(shop.retry(kept?.id ?? '')).rejects.toMatchObject({ code: 'webhook_not_configured' });

    receiver.answer = { status: 200 };
    await shop.setEndpoint(receiver, merchantId);
    await shop.retry(kept?.id ?? '');
    await expect.poll(() => receiver.received.at(-1)?.id, { timeout: 5000 }).toBe(kept?.id);
    expect(receiver.received.at(-1)?.isVerified).toBe(true);
  });

  it('Webhooks are signed with both secrets for a day after a rotation', async () => {
    const receiver = await receive();
    await shop.setEndpoint(receiver);
    const previous = receiver.secret;
    const fresh = await shop.rotateSecret();
    expect(fresh).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(fresh).not.toBe(previous);
    await shop.publish(1);
    await expect.poll(() => receiver.received, { timeout: 5000 }).toHaveLength(1);
    receiver.secret = fresh;
    await shop.publish(1);
    await expect.poll(() => receiver.received, { timeout: 5000 }).toHaveLength(2);
    for (const { signatures, isVerified } of receiver.received) {
      expect(isVerified).toBe(true);
      expect(signatures).toHaveLength(2);
      for (const signature of signatures) expect(signature).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    }
    await changePreviousSecrets((secrets) => {
      expect(secrets).toEqual([{ secret: previous, until: expect.any(Number) as number }]);
      expect(Math.abs((secrets[0]?.until ?? 0) - Date.now() - 86_400_000)).toBeLessThan(10_000);
      return [{ secret: previous, until: Date.now() }];
    });
    await shop.publish(1);
    await expect.poll(() => receiver.received, { timeout: 5000 }).toHaveLength(3);
    expect(receiver.received.at(-1)).toMatchObject({ isVerified: true, signatures: [expect.any(String)] });
  });

  it('A replaced secret is deleted once its day is over, and not before', async () => {
    const receiver = await receive();
    await shop.setEndpoint({ url: '', secret: '' });
    await shop.setEndpoint(receiver);
    const previous = receiver.secret;
    await shop.rotateSecret();
    const { app, database } = shop.server;
    const kept: string[][] = [];
    for (const hours of [23, 25]) {
      await app.endpoints.deletePreviousSecrets(database, Date.now() + hours * 3_600_000);
      await changePreviousSecrets((secrets) => {
        kept.push(secrets.map(({ secret }) => secret));
        return [...secrets];
      });
    }
    expect(kept[0]).toContain(previous);
    expect(kept[1]).toEqual([]);
    await shop.publish(1);
    await expect.poll(() => receiver.received, { timeout: 5000 }).toHaveLength(1);
    expect(receiver.received[0]?.signatures).toHaveLength(1);
  });

  it('After two rotations, webhooks are signed with all three secrets, each replaced one for its full day', async () => {
    const receiver = await receive();
    await shop.setEndpoint({ url: '', secret: '' });
    await shop.setEndpoint(receiver);
    const first = receiver.secret;
    const second = await shop.rotateSecret();
    const third = await shop.rotateSecret();
    const countSignatures = async (secrets: readonly string[]) => {
      receiver.received.length = 0;
      await shop.publish(secrets.length);
      await expect.poll(() => receiver.received.length, { timeout: 5000 }).toBe(secrets.length);
      return receiver.received[0]?.signatures.length;
    };
    for (const secret of [first, second, third]) {
      receiver.secret = secret;
      expect(await countSignatures(['one'])).toBe(3);
      expect(receiver.received.map(({ isVerified }) => isVerified)).toEqual([true]);
    }
    // The first one's day is over, the second one's is not.
    await changePreviousSecrets((secrets) => {
      expect(secrets.map(({ secret }) => secret)).toEqual([second, first]);
      return secrets.map((one) => (one.secret === first ? { ...one, until: Date.now() } : one));
    });
    receiver.secret = first;
    expect(await countSignatures(['one'])).toBe(2);
    expect(receiver.received[0]?.isVerified).toBe(false);
    receiver.secret = second;
    expect(await countSignatures(['one'])).toBe(2);
    expect(receiver.received[0]?.isVerified).toBe(true);
  });

  it('An attempt with status 200 has no error, and records the start of the response without secrets', async () => {
    const { receiver, merchantId } = await openEndpoint();
    const key = `sk_test_${'k'.repeat(43)}`;
    receiver.answer = () => ({
      status: 200,
      body: `${receiver.secret} ${key} v1,c2lnbmF0dXJl ${'x'.repeat(100_000)}`,
    });
    await shop.publish(1, { merchantId });
    const [event] = await shop.settled(merchantId);
    const [attempt] = event?.tries ?? [];
    expect(attempt?.responseExcerpt).toMatch(/^\[redacted\] \[redacted\] \[redacted\] x+$/);
    expect(attempt?.responseExcerpt).toHaveLength(500);
    expect(attempt).toMatchObject({ responseStatus: 200, error: null });
  });

  it('Webhooks that are pending fail when the URL is removed', async () => {
    const { receiver, merchantId } = await openEndpoint();
    receiver.answer = { status: 500 };
    await shop.publish(1, { merchantId });
    await toHaveAttempts(merchantId, 1);
    await shop.setEndpoint({ url: '', secret: '' }, merchantId);
    expect((await onlyEvent(merchantId)).status).toBe('failed');
    await shop.publish(1, { merchantId });
    expect(await shop.events({ merchantId })).toHaveLength(1);
  });

  it('Webhooks are deleted after 30 days if delivered, and after 90 days if failed', async () => {
    const { receiver, merchantId } = await openEndpoint();
    await shop.publish(2, { merchantId });
    await shop.settled(merchantId);
    receiver.answer = { status: 410 };
    await shop.publish(1, { merchantId });
    await expect.poll(() => shop.events({ merchantId, status: 'failed' })).toHaveLength(1);
    const statuses = async () => (await shop.events({ merchantId })).map(({ status }) => status);
    const createdTimes = (await shop.events({ merchantId })).map(({ createdAt }) => timeOf(createdAt));
    const pruneAfter = (days: number) =>
      prune(
        {
          database: shop.server.database,
          clock: clockAt(() => Math.min(...createdTimes) + days * 86_400_000),
          webhooks: shop.server.app.webhooks,
          endpoints: shop.server.app.endpoints,
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

  it('The sequence of a record’s webhooks keeps rising after older ones were deleted', async () => {
    const { merchantId } = await openEndpoint();
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
    await shop.publishFor(subject, merchantId, 3);
    const [first = 0, second = 0, third = 0] = await sequences();
    expect(second).toBeGreaterThan(first);
    expect(third).toBeGreaterThan(second);
    await shop.settled(merchantId);
    await database.write((transaction) =>
      transaction.deleteFrom('outbox').where('merchant_id', '=', merchantId).execute(),
    );
    await shop.publishFor(subject, merchantId, 1);
    expect((await sequences())[0]).toBeGreaterThan(third);
  });

  it('Webhooks that are pending are counted in the backlog, with how overdue the oldest is', async () => {
    const database = shop.server.database.reader;
    const before = await createWebhooks(
      clockAt(() => 0),
      plainData,
    ).backlog(database);
    const { receiver, merchantId } = await openEndpoint();
    receiver.answer = { status: 500 };
    await shop.publish(3, { merchantId });
    await toHaveAttempts(merchantId, 3);
    const due = (await shop.events({ status: 'pending' })).map(({ dueAt }) => timeOf(dueAt));
    const backlog = await createWebhooks(
      clockAt(() => Math.min(...due) + 1234),
      plainData,
    ).backlog(database);
    expect(backlog).toEqual({
      pending: before.pending + 3,
      oldestDueAt: Math.min(...due),
      lagMs: 1234,
    });
    expect(
      (
        await createWebhooks(
          clockAt(() => 0),
          plainData,
        ).backlog(database)
      ).lagMs,
    ).toBe(0);
  });
});

describe.each(enginesOfSoak)('many receivers that hang at once, on $name', (engine) => {
  it('Many receivers that hang at once leave capacity for the others', async () => {
    // No attempt ends, and so frees capacity, before the others have arrived.
    const shop = await openWebhookShop({ engine, overrides: { webhooks: { timeoutMs: 60_000 } } });
    const [bad, good] = [await startReceiver(), await startReceiver()];
    bad.answer = 'hang';
    const accounts = await Promise.all(Array.from({ length: 60 }, () => shop.merchant(bad)));
    for (const merchantId of accounts) await shop.publish(10, { merchantId });
    await expect.poll(() => bad.received.length, { timeout: 10_000 }).toBeGreaterThan(128);
    const merchantId = await shop.merchant(good);
    await shop.publish(20, { merchantId });
    await expect.poll(() => good.received.length, { timeout: 12_000 }).toBe(20);
    await shop.server.stop();
    await Promise.all([bad.stop(), good.stop()]);
  });
});

describe.each(enginesOfSoak)('a server that is shutting down, on $name', (engine) => {
  it('A server shuts down within 12 s although deliveries hang', async () => {
    const receiver = await startReceiver();
    const shop = await openWebhookShop({ engine });
    await shop.setEndpoint(receiver);
    receiver.answer = 'hang';
    await shop.publish(2);
    await expect.poll(() => receiver.received, { timeout: 5000 }).toHaveLength(2);
    const { database } = shop.server;
    const rows = await database.reader.selectFrom('outbox').selectAll().execute();
    expect(rows.map(({ status, tries }) => [status, tries])).toEqual([
      ['pending', 0],
      ['pending', 0],
    ]);
    const startedAt = Date.now();
    await shop.server.stop();
    expect(Date.now() - startedAt).toBeLessThan(12_000);
    await receiver.stop();
  });
});
