/** Messages about money that is due: invoices before and after their date, and subscriptions. On both engines. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { links } from '../../src/modules/links/module.js';
import { mail } from '../../src/modules/mail/module.js';
import { enginesOfTurn } from '../support/engines.js';
import { press } from '../support/link-page.js';
import { openSink, type Letter, type Sink } from '../support/mail-sink.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const { signal } = new AbortController();
const day = 86_400;
const dayMs = day * 1000;

describe.each(enginesOfTurn)('Money that is due, on $name', (engine) => {
  let server: TestServer;
  let other: TestServer | undefined;
  let merchant: Shop;
  let sink: Sink;
  beforeAll(async () => {
    sink = await openSink();
    const env = { SMTP_URL: sink.url, MAIL_FROM: 'pay@checkout.example' };
    server = await startServer({ engine, env });
    merchant = openShop(server);
    await server.database.write((transaction) =>
      server.app.merchants.update(transaction, scope().merchantId, { timeZone: 'Pacific/Kiritimati' }),
    );
    if (engine.name === 'PostgreSQL')
      other = await startServer({ engine, env, databaseUrl: server.databaseUrl });
    await choose(['reminder', 'overdue', 'due']);
  });
  afterAll(async () => {
    await other?.stop();
    await server.stop();
    await sink.stop();
  });

  const scope = () => ({ merchantId: server.bootstrapped.merchantId, mode: 'test' }) as const;
  const choose = (kinds: ('reminder' | 'overdue' | 'due')[]) =>
    server.database.write((transaction) =>
      mail
        .rules(server.app)
        .choose(transaction, scope(), { kinds, language: 'en', replyTo: undefined }, 'test'),
    );
  const servers = () => [server, ...(other ? [other] : [])];
  /** The jobs of a minute, on all servers at once. */
  async function remindAndSend(): Promise<void> {
    await Promise.all(
      servers().flatMap(({ app }) => [
        links.rules(app).reminders.remind(signal),
        links.rules(app).reminders.remind(signal),
      ]),
    );
    await vi.waitFor(
      async () => {
        await Promise.all(servers().map(({ app }) => mail.rules(app).send(signal)));
        expect(await mail.rules(server.app).countDue()).toBe(0);
      },
      { timeout: 8000, interval: 50 },
    );
  }
  const lettersTo = (email: string): Letter[] =>
    sink.letters.filter(({ recipients }) => recipients.includes(email));
  const dateIn = (days: number) =>
    new Date(server.app.clock.now(scope()) + days * dayMs).toISOString().slice(0, 10);
  const invoice = (customerEmail: string, dueIn: number, more: object = {}) =>
    merchant.createLink({
      title: 'Invoice 2026-17',
      baseCurrency: 'USD',
      customerEmail,
      dueAt: dateIn(dueIn),
      lines: [{ name: 'Repair', quantity: 2, amount: '45.50' }],
      ...more,
    });

  it('an invoice is for a customer, whose address is not in it, and other links are for none', async () => {
    const made = await invoice('Ada@example.com', 30);
    const customer = await merchant.ask('GET', `/v1/customers/${String(made.customerId)}`);
    expect(customer).toMatchObject({ email: 'Ada@example.com' });
    expect(JSON.stringify(made)).not.toContain('Ada@');
    const body = { title: 'Ticket', amount: 5, baseCurrency: 'USD', customerEmail: 'ada@example.com' };
    expect((await server.api('POST', '/v1/links', { body })).status).toBe(400);
    await remindAndSend();
    expect(lettersTo('Ada@example.com')).toEqual([]);
  });

  it('an invoice is reminded of once before it is due and once when it is overdue, by all servers together', async () => {
    const made = await invoice('eve@example.com', 10);
    await merchant.advance(8 * day);
    await remindAndSend();
    await remindAndSend();
    const [before, ...more] = lettersTo('eve@example.com');
    expect(more).toEqual([]);
    // The day of the shop, which is 14 hours ahead.
    expect(before?.subject).toBe(
      `[test] Your invoice from Nightjar Lanterns is due on ${new Date(Date.parse(made.dueAt ?? '') + 14 * 3_600_000).toISOString().slice(0, 10)}`,
    );
    expect(before?.text).toContain('91.00 USD is due on');
    expect(before?.text).toContain('Invoice 2026-17');
    expect(before?.text).toContain(`/l/${made.slug}`);
    await merchant.advance(3 * day);
    await remindAndSend();
    await remindAndSend();
    const subjects = lettersTo('eve@example.com').map(({ subject }) => subject);
    expect(subjects).toEqual([before?.subject, '[test] Your invoice from Nightjar Lanterns is overdue']);
  });

  it('an invoice is reminded of neither once it is paid, nor once it is off, and again for another date', async () => {
    const paid = await invoice('paid@example.com', 2);
    const off = await invoice('off@example.com', 2);
    const moved = await invoice('moved@example.com', 2);
    const { paymentId } = await press(server, paid.slug, {});
    const { address, amount } = await merchant.choose(paymentId);
    await merchant.pay(address, amount);
    await merchant.ask('PATCH', `/v1/links/${off.id}`, { body: { isActive: false } });
    await remindAndSend();
    await merchant.ask('PATCH', `/v1/links/${moved.id}`, { body: { dueAt: dateIn(1) } });
    await remindAndSend();
    const count = (name: string) => lettersTo(`${name}@example.com`).length;
    expect([count('off'), count('moved')]).toEqual([0, 2]);
    // Reminded at most before its payment.
    await merchant.advance(5 * day);
    await remindAndSend();
    expect(lettersTo('paid@example.com').filter(({ subject }) => subject?.includes('overdue'))).toEqual([]);
    expect(lettersTo('off@example.com')).toEqual([]);
  });

  it('a reminder is not sent if its invoice was paid before the mail server took it, or to somebody who wants none', async () => {
    const { app } = server;
    await invoice('stop@example.com', 1);
    await remindAndSend();
    const [letter] = lettersTo('stop@example.com');
    const [link = ''] = /\S+\/mail\/off\/\S+/.exec(letter?.text ?? '') ?? [];
    expect((await fetch(link, { method: 'POST' })).status).toBe(200);
    await invoice('stop@example.com', 1);
    await remindAndSend();
    expect(lettersTo('stop@example.com')).toHaveLength(1);

    const late = await invoice('late@example.com', 1);
    await server.database.write(async (transaction) => {
      const open = await links.rules(app).reminders.openInvoice(transaction, late.id);
      if (!open) throw new Error('It is open');
      await mail.rules(app).onInvoiceDue(transaction, open);
      await transaction.updateTable('links').set({ is_active: 0 }).where('id', '=', late.id).execute();
    });
    await remindAndSend();
    expect(lettersTo('late@example.com')).toEqual([]);
  });

  it('nobody is reminded whose shop did not choose it', async () => {
    await choose(['due']);
    await invoice('quiet@example.com', 1);
    await remindAndSend();
    expect(lettersTo('quiet@example.com')).toEqual([]);
  });

  it('a subscription asks for each of its payments once, with the page to pay at', async () => {
    const plan = await merchant.ask<{ id: string }>('POST', '/v1/payment-plans', {
      body: {
        planName: 'Lanterns',
        amount: 10,
        currency: 'USD',
        currencies: ['USDT'],
        frequency: 'daily',
        numberOfTimesToCharge: 3,
      },
    });
    const body = { email: 'sub@example.com' };
    const joined = await server.api('POST', `/v1/payment-plan-subscribers/${plan.id}`, { body });
    expect(joined.status, JSON.stringify(joined.body)).toBe(200);
    await remindAndSend();
    const [first] = lettersTo('sub@example.com');
    expect(first?.subject).toBe('[test] Your payment to Nightjar Lanterns is due');
    expect(first?.text).toContain('10.00 USD is due for your subscription');
    const [page = ''] = /http\S+\/pay\/\w+/.exec(first?.text ?? '') ?? [];
    expect((await fetch(page)).status).toBe(200);
    expect(lettersTo('sub@example.com')).toHaveLength(1);
    // The next one comes with the next day.
    await merchant.advance(day);
    await remindAndSend();
    const pages = lettersTo('sub@example.com').map(({ text }) => /http\S+\/pay\/\w+/.exec(text ?? '')?.[0]);
    expect(new Set(pages).size).toBe(2);
    expect(pages).toHaveLength(2);
  });
});
