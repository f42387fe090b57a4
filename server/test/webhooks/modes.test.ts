/** One webhook endpoint for each mode: test events never reach the live endpoint, and each has its own secrets. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeCertificate } from '../support/certificate.js';
import { enginesOfTurn } from '../support/engines.js';
import { receive, startReceiver, type Receiver } from './receiver.js';
import { openWebhookShop, type WebhookShop } from './webhook-shop.js';

const certificate = makeCertificate('hooks.example');

describe.each(enginesOfTurn)('webhooks of two modes, on $name', (engine) => {
  let shop: WebhookShop;
  beforeAll(async () => {
    shop = await openWebhookShop({
      engine,
      env: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.2/32' },
      overrides: {
        webhooks: {
          resolve: () => Promise.resolve([{ address: '127.0.0.2', family: 4 }]),
          certificateAuthority: certificate.cert,
          // Long enough for a busy machine to deliver to one mode before an attempt of the other ends.
          timeoutMs: 15_000,
        },
      },
    });
  });
  afterAll(() => shop.server.stop());

  /** A merchant with an endpoint for each mode. */
  async function openEndpoints() {
    const test = await receive();
    const live = await receive({ host: '127.0.0.2', certificate });
    const merchantId = await shop.merchant(test);
    const endpoint = { url: `https://hooks.example:${live.port}/hook`, secret: '' };
    await shop.setEndpoint(endpoint, merchantId, 'live');
    live.secret = endpoint.secret;
    onTestFinished(async () => {
      for (const mode of ['test', 'live'] as const) {
        await shop.setEndpoint({ url: '', secret: '' }, merchantId, mode);
      }
    });
    return { test, live, merchantId };
  }
  const modesOf = ({ received }: Receiver) => received.map(({ event }) => event.data.mode);
  const subjectsOf = ({ received }: Receiver) =>
    received.map(({ event }) => (event.data as { id?: string }).id).sort();

  it('Webhooks go to the endpoint of their own mode, signed with its secret', async () => {
    const { test, live, merchantId } = await openEndpoints();
    expect(test.secret).not.toBe(live.secret);
    const testSubjects = await shop.publish(5, { merchantId, mode: 'test' });
    const liveSubjects = await shop.publish(5, { merchantId, mode: 'live' });
    const events = await shop.settled(merchantId);
    expect(events.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'delivered'));
    expect(subjectsOf(test)).toEqual(testSubjects.sort());
    expect(subjectsOf(live)).toEqual(liveSubjects.sort());
    expect([...new Set(modesOf(test)), ...new Set(modesOf(live))]).toEqual(['test', 'live']);
    for (const { isVerified } of [...test.received, ...live.received]) expect(isVerified).toBe(true);
  });

  it('An endpoint gets one secret, also if several people set its first URL at the same time', async () => {
    const receiver = await receive();
    const merchantId = await shop.merchant(receiver);
    await shop.setEndpoint({ url: '', secret: '' }, merchantId, 'test');
    const { database, app } = shop.server;
    const set = () =>
      database.write((transaction) =>
        app.endpoints.set(transaction, { merchantId, mode: 'test' }, receiver.url),
      );
    const secrets = await Promise.all([set(), set(), set()]);
    const [secret, ...others] = secrets.filter((one) => one !== undefined);
    expect(others).toEqual([]);
    receiver.secret = secret ?? '';
    await shop.publish(1, { merchantId, mode: 'test' });
    await shop.settled(merchantId);
    expect(receiver.received.map(({ isVerified }) => isVerified)).toEqual([true]);
  });

  it('Webhooks of a mode without an endpoint are not stored, and never go to the other mode’s', async () => {
    const { test, live, merchantId } = await openEndpoints();
    await shop.setEndpoint({ url: '', secret: '' }, merchantId, 'test');
    await shop.publish(3, { merchantId, mode: 'test' });
    const [subject] = await shop.publish(1, { merchantId, mode: 'live' });
    await shop.settled(merchantId);
    expect(test.received).toEqual([]);
    expect(subjectsOf(live)).toEqual([subject]);
    expect(await shop.events({ merchantId })).toHaveLength(1);
  });

  it('Deliveries fail in one mode, are disabled by 410 or removed there, and continue in the other', async () => {
    const { test, live, merchantId } = await openEndpoints();
    test.answer = { status: 410 };
    await shop.publish(1, { merchantId, mode: 'test' });
    await expect.poll(() => shop.events({ merchantId, status: 'failed' })).toHaveLength(1);
    await shop.publish(2, { merchantId, mode: 'live' });
    await expect.poll(() => live.received.length, { timeout: 5000 }).toBe(2);
    const entries = await shop.server.app.auditLog.list(shop.server.database.reader, { merchantId });
    expect(entries).toMatchObject([{ action: 'webhook.disabled', mode: 'test', actor: 'server' }]);
    expect(test.received).toHaveLength(1);
  });

  it('Webhooks of a test endpoint that hangs take nothing from the live one', async () => {
    const { test, live, merchantId } = await openEndpoints();
    test.answer = 'hang';
    await shop.publish(20, { merchantId, mode: 'test' });
    await expect.poll(() => test.received.length, { timeout: 5000 }).toBe(8);
    await shop.publish(8, { merchantId, mode: 'live' });
    await expect.poll(() => live.received.length, { timeout: 12_000 }).toBe(8);
  });
});

describe.each(enginesOfTurn)('the claim of a delivery, on $name', (engine) => {
  it('The claim of a delivery outlives its process by at most 4 s, and is renewed while the delivery runs', async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.stop());
    const shop = await openWebhookShop({ engine });
    onTestFinished(() => shop.server.stop());
    await shop.setEndpoint(receiver);
    receiver.answer = 'hang';
    await shop.publish(1);
    await expect.poll(() => receiver.received.length, { timeout: 5000 }).toBe(1);
    const outbox = () =>
      shop.server.database.reader
        .selectFrom('outbox')
        .select(['claim', 'claimed_until'])
        .executeTakeFirstOrThrow();
    const claimedUntil = async () => (await outbox()).claimed_until ?? 0;
    const { claim, claimed_until: first } = await outbox();
    if (first === null) throw new Error('The delivery is not claimed');
    // The next poll of another process comes up to a second later.
    expect(first - Date.now()).toBeLessThanOrEqual(4000);
    await expect.poll(claimedUntil, { timeout: 10_000 }).toBeGreaterThan(first);
    expect((await claimedUntil()) - Date.now()).toBeLessThanOrEqual(4000);
    // It was renewed: it did not end and begin again.
    expect((await outbox()).claim).toBe(claim);
    expect(receiver.received).toHaveLength(1);
  });
});
