/** Receipts that people of the shop send to a payer, on both engines. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mail } from '../../src/modules/mail/module.js';
import { signIn, type TestBrowser } from '../support/browser.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfTurn, sqlite } from '../support/engines.js';
import { openSink, type Sink } from '../support/mail-sink.js';
import { openShop, type Order, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const { signal } = new AbortController();
const path = (id: string) => `/console/api/mail/receipts/${id}`;
const customer = { email: 'grace@example.com', name: 'Grace Example' };

describe.each(enginesOfTurn)('A receipt by mail, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let sink: Sink;
  let sue: TestBrowser;
  beforeAll(async () => {
    sink = await openSink();
    server = await startServer({ engine, env: { SMTP_URL: sink.url, MAIL_FROM: 'pay@checkout.example' } });
    merchant = openShop(server);
    sue = await signIn(server, 'support', 'sue@shop.example');
  });
  afterAll(async () => {
    await server.stop();
    await sink.stop();
  });

  async function paid(more: Order, factor = 1): Promise<string> {
    const locked = await merchant.lock(more);
    await merchant.pay(locked.address, locked.amount * factor);
    return locked.id;
  }
  const sendReceipt = (id: string, who = sue, after: string | null = null) =>
    who.send('POST', path(id), { body: { after } });
  const look = async (id: string, who = sue) => (await who.send('GET', path(id))).body.data;
  const delivered = () =>
    vi.waitFor(
      async () => {
        await mail.rules(server.app).send(signal);
        expect(await mail.rules(server.app).countDue()).toBe(0);
      },
      { timeout: 8000, interval: 50 },
    );

  it('A receipt is sent on request though the shop sends none automatically, and the audit log names who asked', async () => {
    const id = await paid({ customer });
    await delivered();
    expect(sink.letters).toEqual([]);
    expect(await look(id)).toEqual({ to: customer.email, blockedBy: null, last: null });
    expect((await sendReceipt(id)).status).toBe(200);
    await delivered();
    expect(sink.letters).toHaveLength(1);
    expect(sink.letters[0]?.recipients).toEqual([customer.email]);
    expect(JSON.stringify(sink.letters[0])).toContain(id);
    const { json } = await runWith(
      commandContext(server),
      `audit list --merchant ${server.bootstrapped.merchantId}`,
    );
    expect(json).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          action: 'console.change',
          actor: expect.stringMatching(/^sue@shop\.example/) as string,
          after: expect.objectContaining({ call: 'receiptMail.send' }) as object,
        }),
      ]),
    );
  });

  it('Concurrent requests send a receipt once, on two servers too, and a request that knows of it sends it again', async () => {
    const env = { SMTP_URL: sink.url, MAIL_FROM: 'pay@checkout.example' };
    // Only one server opens an SQLite file.
    const isAlone = engine.name === sqlite.name;
    const second = isAlone ? server : await startServer({ engine, databaseUrl: server.databaseUrl, env });
    const sam = await signIn(second, 'support', 'sam@shop.example', server.bootstrapped.merchantId);
    const id = await paid({ customer });
    const before = sink.letters.length;
    const press = async (after: string | null) => {
      const answers = await Promise.all([sue, sam, sue, sam].map((who) => sendReceipt(id, who, after)));
      const isNew = answers.map(({ status, body }) => status === 200 && body.data['isNew']);
      expect(isNew.sort()).toEqual([false, false, false, true]);
      await delivered();
    };
    await press(null);
    expect(sink.letters).toHaveLength(before + 1);
    const { last } = (await look(id, sam)) as { last: { id: string; secondsAgo: number; isSent: boolean } };
    expect(last).toMatchObject({ isSent: true });
    expect(last.secondsAgo).toBeLessThan(60);
    for (const stale of [null, 'ZZZZZZZZZZZZZZZZZZZZZZZZZZ'])
      expect((await sendReceipt(id, sue, stale)).body.data).toMatchObject({
        isNew: false,
        last: { id: last.id },
      });
    await press(last.id);
    expect(sink.letters).toHaveLength(before + 2);
    if (!isAlone) await second.stop();
  });

  it('A receipt is sent for a payment that got more than its price', async () => {
    const before = sink.letters.length;
    const id = await paid({ customer }, 1.5);
    expect((await sendReceipt(id)).status).toBe(200);
    await delivered();
    expect(sink.letters).toHaveLength(before + 1);
  });

  it('No receipt is sent for a payment that is unpaid or has no address, or whose payer wants no messages', async () => {
    const open = (await merchant.lock({ customer })).id;
    const nameless = await paid({});
    expect(await look(open)).toMatchObject({ blockedBy: 'unpaid' });
    expect(await look(nameless)).toEqual({ to: null, blockedBy: 'no_address', last: null });
    const quiet = await paid({ customer: { email: 'quiet@example.com' } });
    await sendReceipt(quiet);
    await delivered();
    const off = /\/mail\/off\/([^/\s]+)\/([A-Za-z0-9_-]+)/.exec(sink.letters.at(-1)?.text ?? '');
    await mail.rules(server.app).refuse(off?.[1] ?? '', off?.[2] ?? '');
    expect(await look(quiet)).toMatchObject({ blockedBy: 'unwanted' });
    const before = sink.letters.length;
    for (const id of [open, nameless, quiet]) {
      const { status, body } = await sendReceipt(id);
      expect([status, body.data.code]).toEqual([409, 'invalid_state']);
    }
    await delivered();
    expect(sink.letters).toHaveLength(before);
  });

  it('A receipt stays blocked for a payer who wants none, even once the customer has another address', async () => {
    const [earlier, email] = ['moved@example.com', 'moved@elsewhere.example'];
    const id = await paid({ customer: { email: earlier } });
    await sendReceipt(id);
    await delivered();
    const off = /\/mail\/off\/([^/\s]+)\/([A-Za-z0-9_-]+)/.exec(sink.letters.at(-1)?.text ?? '');
    const [found] = await merchant.ask<{ id: string }[]>('GET', `/v1/customers?email=${earlier}`);
    await merchant.ask('PATCH', `/v1/customers/${found?.id ?? ''}`, { body: { email } });
    await mail.rules(server.app).refuse(off?.[1] ?? '', off?.[2] ?? '');
    expect(await look(id)).toMatchObject({ blockedBy: 'unwanted' });
    const moved = await paid({ customer: { email } });
    expect(await look(moved)).toMatchObject({ blockedBy: 'unwanted' });
  });

  it('A receipt is not found by another shop, and an accountant cannot send one', async () => {
    const id = await paid({ customer });
    const { id: foreign } = await server.database.write((transaction) =>
      server.app.merchants.create(transaction, { name: 'Another Shop' }),
    );
    const eve = await signIn(server, 'owner', 'eve@other.example', foreign);
    for (const unknown of [id, 'ZZZZZZZZZZZZZZZZZZZZZZZZZZ']) {
      expect((await look(unknown, eve)).code).toBe('not_found');
      expect((await sendReceipt(unknown, eve)).body.data.code).toBe('not_found');
    }
    const accountant = await signIn(server, 'accountant');
    expect(await look(id, accountant)).toMatchObject({ to: customer.email });
    expect((await sendReceipt(id, accountant)).body.data.code).toBe('role_not_allowed');
  });
});

it('Without a mail server, a receipt is not sent, and the answer says so', async () => {
  const server = await startServer({ engine: sqlite });
  const merchant = openShop(server);
  const locked = await merchant.lock({ customer });
  await merchant.pay(locked.address, locked.amount);
  const sue = await signIn(server, 'support');
  expect((await sue.send('GET', path(locked.id))).body.data).toMatchObject({ blockedBy: 'off' });
  expect((await sue.send('POST', path(locked.id))).body.data.code).toBe('invalid_state');
  await server.stop();
});
