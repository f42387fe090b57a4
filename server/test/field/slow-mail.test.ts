/**
 * Mail servers that take a message and confirm it late or never, as in reports of others: the time limit of the sender was too
 * short, and one message went out again and again (https://github.com/freescout-help-desk/freescout/issues/5457,
 * https://github.com/mantisbt/mantisbt/pull/790, https://github.com/postalserver/postal/issues/3016).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { readConfig } from '../../src/core/config.js';
import { mail } from '../../src/modules/mail/module.js';
import { mailSettings } from '../../src/modules/mail/settings.js';
import { createTransports, mailLimits } from '../../src/modules/mail/transport.js';
import { enginesOfQuick } from '../support/engines.js';
import { openSink, type Sink } from '../support/mail-sink.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const { signal } = new AbortController();
const minuteMs = 60_000;

describe.each(enginesOfQuick)('A mail server that hangs up on messages it has taken, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let sink: Sink;
  let passed = 0;
  beforeAll(async () => {
    sink = await openSink({}, 0, ({ recipients }, session) => {
      if (recipients[0]?.startsWith('slow')) sink.hangUp(session);
    });
    const env = { SMTP_URL: sink.url, MAIL_FROM: 'pay@checkout.example' };
    server = await startServer({ engine, env, overrides: { realNow: () => Date.now() + passed } });
    merchant = openShop(server);
    await server.database.write((transaction) =>
      mail
        .rules(server.app)
        .choose(
          transaction,
          { merchantId: server.bootstrapped.merchantId, mode: 'test' },
          { kinds: ['receipt'], language: 'en', replyTo: undefined },
          'test',
        ),
    );
  });
  beforeEach(() => {
    sink.letters.length = 0;
  });
  afterAll(async () => {
    await server.stop();
    await sink.stop();
  });

  const payAs = (email: string) => merchant.fund({ amount: 10, customer: { email } });
  const copiesFor = (email: string) =>
    sink.letters.filter(({ recipients }) => recipients.includes(email)).length;
  async function passHours(hours: number) {
    for (let minute = 0; minute < hours * 60; minute += 2) {
      passed += 2 * minuteMs;
      await mail.rules(server.app).send(signal);
    }
  }

  it('A mail server that hangs up gets a message at most ten times in three days, even if no other waits', async () => {
    await payAs('slow@example.com');
    await passHours(6);
    expect(copiesFor('slow@example.com')).toBeLessThanOrEqual(6);
    passed += 73 * 60 * minuteMs;
    // The server's own job may be the one that sends it.
    await expect
      .poll(
        async () => {
          await mail.rules(server.app).send(signal);
          return server.database.reader
            .selectFrom('mails')
            .select(['status', 'problem'])
            .orderBy('created_at', 'desc')
            .executeTakeFirst();
        },
        { timeout: 20_000 },
      )
      .toMatchObject({ status: 'failed', problem: expect.stringMatching(/\S/) as unknown });
    const copies = copiesFor('slow@example.com');
    expect(copies).toBeGreaterThan(1);
    expect(copies).toBeLessThanOrEqual(10);
  });

  it('A message behind three on which the mail server hangs up is sent at once', async () => {
    for (const name of ['slow-1', 'slow-2', 'slow-3', 'quick']) await payAs(`${name}@example.com`);
    await mail.rules(server.app).send(signal);
    await expect.poll(() => copiesFor('quick@example.com'), { timeout: 20_000 }).toBe(1);
    for (const name of ['slow-1', 'slow-2', 'slow-3'])
      await expect.poll(() => copiesFor(`${name}@example.com`)).toBe(1);
    expect(mail.rules(server.app).trouble()).toBeUndefined();
  });
});

const envelope = {
  fromName: 'Shop',
  replyTo: undefined,
  offUrl: 'http://127.0.0.1/off',
  subject: 'Hello',
  text: 'Hello',
  html: '<p>Hello</p>',
};

async function openTransport(
  { onTestFinished }: TestContext,
  url: string,
  limits = mailLimits,
  stop?: AbortSignal,
) {
  const config = readConfig({ SMTP_URL: url, MAIL_FROM: 'pay@checkout.example' }, mailSettings);
  const transport = await createTransports(config, limits)?.open(stop);
  if (!transport) throw new Error('A mail server is configured');
  onTestFinished(() => transport.close());
  return transport;
}

it.concurrent(
  'A reply that comes after eleven seconds confirms the message',
  async (context) => {
    const sink = await openSink({}, 0, () => delay(11_000));
    context.onTestFinished(() => sink.stop());
    const transport = await openTransport(context, sink.url);
    expect(await transport.send({ ...envelope, id: 'late', to: 'payer@example.com' })).toBeUndefined();
  },
  40_000,
);

it.concurrent(
  'A message whose reply takes too long is tried later, and the next is sent over a new connection',
  async (context) => {
    const sink = await openSink({}, 0, ({ recipients }) =>
      recipients[0]?.startsWith('slow') ? delay(8000) : undefined,
    );
    context.onTestFinished(() => sink.stop());
    const transport = await openTransport(context, sink.url, {
      greetingMs: 5000,
      replyMs: 30_000,
      messageMs: 4000,
    });
    expect(await transport.send({ ...envelope, id: 'one', to: 'slow@example.com' })).toMatchObject({
      kind: 'deferred',
      reason: 'The mail server took longer than 4 s',
    });
    expect(await transport.send({ ...envelope, id: 'two', to: 'quick@example.com' })).toBeUndefined();
  },
);

it.concurrent('A server that stops waits for a reply, but not for long', async (context) => {
  const sink = await openSink({}, 0, () => delay(12_000));
  context.onTestFinished(() => sink.stop());
  const stop = new AbortController();
  const transport = await openTransport(context, sink.url, mailLimits, stop.signal);
  const started = performance.now();
  setTimeout(() => stop.abort(), 200);
  expect(await transport.send({ ...envelope, id: 'one', to: 'payer@example.com' })).toMatchObject({
    kind: 'unreachable',
  });
  expect(performance.now() - started).toBeLessThan(9000);
});

it.concurrent('No address and no account is in the reason that is stored', async (context) => {
  const sink = await openSink({
    onRcptTo: (_address, _session, done) => {
      const error = new Error('5.1.1 <Payer@EXAMPLE.com> is unknown to checkout@mail.internal');
      done(Object.assign(error, { responseCode: 550 }));
    },
  });
  context.onTestFinished(() => sink.stop());
  const transport = await openTransport(context, sink.url);
  const failure = await transport.send({ ...envelope, id: 'one', to: 'payer@example.com' });
  expect(failure).toMatchObject({ kind: 'refused' });
  expect(failure?.reason).toContain('(an address)');
  expect(failure?.reason).not.toMatch(/@/);
});
