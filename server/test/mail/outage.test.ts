/** A mail server that is down for a day: all messages come once it is back, in their order. On both engines. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mail } from '../../src/modules/mail/module.js';
import { enginesOfTurn } from '../support/engines.js';
import { openSink, type Sink } from '../support/mail-sink.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const { signal } = new AbortController();
const minuteMs = 60_000;

describe.each(enginesOfTurn)('Outages of mail, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let sink: Sink;
  let passed = 0;
  /** The local part of an address on which the mail server hangs up. */
  let hated = '';
  const options = {
    onRcptTo({ address }: { address: string }, session: { id: string }, done: (error?: Error) => void) {
      if (hated !== '' && address.startsWith(hated)) sink.hangUp(session.id);
      else done();
    },
  };
  beforeAll(async () => {
    sink = await openSink(options);
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
  afterAll(async () => {
    await server.stop();
    await sink.stop();
  });

  const payAs = (email: string) => merchant.fund({ amount: 10, customer: { email } });
  const rows = () => server.database.reader.selectFrom('mails').selectAll().orderBy('created_at').execute();
  const receivers = () => sink.letters.flatMap(({ recipients }) => recipients);
  const sendAll = () =>
    vi.waitFor(
      async () => {
        await mail.rules(server.app).send(signal);
        expect(await mail.rules(server.app).countDue()).toBe(0);
      },
      { timeout: 10_000, interval: 50 },
    );

  it('A mail server that is down for a day gets all messages once it is back, in their order, and none is given up', async () => {
    const port = Number(new URL(sink.url).port);
    await sink.stop();
    const names: string[] = [];
    for (let hour = 0; hour < 24; hour += 1) {
      if (hour % 4 === 0) {
        const name = `payer-${hour}@example.com`;
        names.push(name);
        await payAs(name);
      }
      for (let tenth = 0; tenth < 6; tenth += 1) {
        passed += 10 * minuteMs;
        await mail.rules(server.app).send(signal);
      }
    }
    expect((await rows()).every(({ status }) => status === 'pending')).toBe(true);
    sink = await openSink(options, port);
    passed += 5 * minuteMs;
    // By the server's own job: of two senders at once, each takes a batch.
    await vi.waitFor(async () => expect(await mail.rules(server.app).countDue()).toBe(0), {
      timeout: 20_000,
      interval: 50,
    });
    expect(receivers()).toEqual(names);
    expect((await rows()).map(({ status }) => status)).toEqual(names.map(() => 'sent'));
  });

  it('A mail server that hangs up on one message gets the others, and that one once it takes it', async () => {
    sink.letters.length = 0;
    hated = 'hated';
    // An outage before it, of many tries, leaves the message its own.
    const port = Number(new URL(sink.url).port);
    await sink.stop();
    await payAs('hated@example.com');
    for (let tries = 0; tries < 12; tries += 1) {
      passed += 5 * minuteMs;
      await mail.rules(server.app).send(signal);
    }
    sink = await openSink(options, port);
    passed += 5 * minuteMs;
    await payAs('liked@example.com');
    await vi.waitFor(
      async () => {
        passed += 5000;
        await mail.rules(server.app).send(signal);
        expect(receivers()).toEqual(['liked@example.com']);
      },
      { timeout: 10_000, interval: 50 },
    );
    hated = '';
    passed += 20 * minuteMs;
    await sendAll();
    expect(receivers()).toEqual(['liked@example.com', 'hated@example.com']);
  });

  it('A mail server that is down for longer than three days ends the tries, which the list of messages says', async () => {
    const port = Number(new URL(sink.url).port);
    await sink.stop();
    await payAs('lost@example.com');
    passed += 3 * 24 * 60 * minuteMs + minuteMs;
    await vi.waitFor(
      async () => {
        passed += 5 * minuteMs;
        await mail.rules(server.app).send(signal);
        expect((await rows()).at(-1)?.status).toBe('failed');
      },
      { timeout: 20_000, interval: 50 },
    );
    expect((await rows()).at(-1)?.problem).toMatch(/ECONNREFUSED/);
    sink = await openSink(options, port);
  });
});
