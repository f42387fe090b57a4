/** Webhooks with several processes, and with processes that are killed: each event arrives, under one id. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCheckoutClient } from 'crypto-checkout/client';
import { openDatabase } from '../../src/database.js';
import { runCommandLine } from '../support/command-line.js';
import { engines } from '../support/engines.js';
import { startProcess } from '../support/process.js';
import { receive } from './receiver.js';
import { openWebhookShop } from './webhook-shop.js';

async function command(databaseUrl: string, ...args: string[]): Promise<unknown> {
  const { exitCode, stdout, stderr } = await runCommandLine(databaseUrl, [...args, '--json']);
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** The claims that a dead server left on PostgreSQL end soon. On SQLite the next server releases them. */
async function expectShortClaims(databaseUrl: string): Promise<void> {
  const database = await openDatabase(databaseUrl);
  const claimed = await database.reader
    .selectFrom('outbox')
    .select('claimed_until')
    .where('claim', 'is not', null)
    .execute();
  await database.close();
  expect(claimed.length).toBeGreaterThan(0);
  for (const { claimed_until: until } of claimed) expect(until).toBeLessThanOrEqual(Date.now() + 4000);
}

describe.each(engines)('a server killed between commit and delivery, on $name', (engine) => {
  it(
    'every event of a server killed before delivery is delivered by the next one, under the same webhook-id',
    { timeout: 90_000 },
    async () => {
      const database = await engine.create();
      onTestFinished(() => database.dispose());
      const publicKey = `pk_test_${randomBytes(32).toString('base64url')}`;
      const env = {
        DATABASE_URL: database.url,
        BOOTSTRAP_PUBLIC_KEY: publicKey,
        BOOTSTRAP_SECRET_KEY: `sk_test_${randomBytes(32).toString('base64url')}`,
        BLOCK_INTERVAL_MS: '0',
      };
      const first = await startProcess(env);
      onTestFinished(() => first.kill());
      const receiver = await receive();
      const [account] = (await command(database.url, 'merchants', 'list')) as { id: string }[];
      const { webhookSecret } = (await command(
        ...([database.url, 'merchants', 'update', account?.id ?? ''] as const),
        ...['--webhook-url', receiver.url, '--mode', 'test'],
      )) as { webhookSecret: string };
      receiver.secret = webhookSecret;
      receiver.answer = 'hang';

      const client = createCheckoutClient({ apiUrl: first.url, publicKey });
      const payments = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const { data } = await client.create({ amount: 5000, baseCurrency: 'NGN' });
          return data.payment.id;
        }),
      );
      await Promise.all(payments.map((id) => client.cancel(id)));
      // Some have reached the receiver, which does not reply, and some have not been sent.
      await expect.poll(() => receiver.received.length, { timeout: 5000 }).toBeGreaterThan(0);
      await first.kill();
      const cutOff = receiver.received.splice(0);
      expect(cutOff.length).toBeLessThan(payments.length);
      receiver.answer = { status: 200 };

      if (engine.name === 'PostgreSQL') await expectShortClaims(database.url);
      const second = await startProcess(env);
      onTestFinished(() => second.kill());
      await expect.poll(() => receiver.received.length, { timeout: 15_000 }).toBe(payments.length);
      const subjectOf = ({ event }: { event: { data: unknown } }) => (event.data as { id: string }).id;
      expect(receiver.received.map(subjectOf).sort()).toEqual([...payments].sort());
      for (const { event, isVerified } of receiver.received) {
        expect([event.type, isVerified]).toEqual(['payment.cancelled', true]);
      }
      for (const one of cutOff) {
        const again = receiver.received.find((other) => subjectOf(other) === subjectOf(one));
        expect(again).toMatchObject({ id: one.id, body: one.body });
      }

      const listed = () =>
        command(database.url, 'webhooks', 'list', '--status', 'delivered') as Promise<{ id: string }[]>;
      await expect.poll(async () => (await listed()).length, { timeout: 10_000 }).toBe(payments.length);
      const [again] = receiver.received;
      await command(database.url, 'webhooks', 'retry', again?.id ?? '');
      await expect.poll(() => receiver.received.length, { timeout: 5000 }).toBe(payments.length + 1);
      expect(receiver.received.at(-1)).toMatchObject({ id: again?.id, body: again?.body, isVerified: true });
      expect(await second.stop()).toBe(0);
    },
  );
});

describe.each(engines.filter(({ name }) => name === 'PostgreSQL'))('two servers on one $name', (engine) => {
  it('two servers deliver each event once between them', { timeout: 60_000 }, async () => {
    const database = await engine.create();
    onTestFinished(() => database.dispose());
    const options = { engine, databaseUrl: database.url };
    const shop = await openWebhookShop(options);
    onTestFinished(() => shop.server.stop());
    const other = await openWebhookShop(options);
    onTestFinished(() => other.server.stop());
    const receivers = await Promise.all(Array.from({ length: 10 }, () => receive()));
    const accounts = await Promise.all(receivers.map((receiver) => shop.merchant(receiver)));
    const subjects = await Promise.all(
      accounts.map((merchantId, index) => (index % 2 ? shop : other).publish(40, { merchantId })),
    );
    await shop.settled();
    for (const [index, receiver] of receivers.entries()) {
      const received = receiver.received.map(({ event }) => (event.data as { id?: string }).id);
      expect(received.sort()).toEqual(subjects[index]?.sort());
      expect(receiver.received.every(({ isVerified }) => isVerified)).toBe(true);
    }
    const events = await shop.events();
    expect(events.map(({ status, tries }) => [status, tries.length])).toEqual(
      Array.from({ length: 400 }, () => ['delivered', 1]),
    );
  });
});
