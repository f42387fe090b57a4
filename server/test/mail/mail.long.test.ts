/** Messages to payers, over SMTP to a real mail server. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { enginesOfSoak, lastEngine } from '../support/engines.js';
import { externalAddresses, openShop, type LockedPayment, type Order, type Shop } from '../support/shop.js';
import { openClaimBrowser } from '../support/claim-browser.js';
import { mail } from '../../src/modules/mail/module.js';
import { startServer, type TestServer } from '../support/server.js';
import type { MailTable } from '../../src/modules/mail/tables.js';
import { retention } from '../../src/core/shared/retention.js';
import { openSink, type Letter, type Sink } from '../support/mail-sink.js';

/** Answers of the mail server by the local part of an address. */
const refusals: Readonly<Record<string, { readonly message: string; readonly responseCode: number }>> = {
  gone: { message: 'No such user', responseCode: 550 },
  grey: { message: 'Greylisted, come back later', responseCode: 451 },
  long: { message: 'x'.repeat(60_000), responseCode: 550 },
};

const { signal } = new AbortController();
/** The server's own job may have a message already, and pauses for seconds after an outage. */
const patience = { timeout: 20_000, interval: 20 };

describe.each(enginesOfSoak)('Messages to payers, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let sink: Sink;
  let payers = 0;
  beforeAll(async () => {
    sink = await openSink({
      onRcptTo({ address }, _session, done) {
        const { message, responseCode } = refusals[address.split(/[-@]/)[0] ?? ''] ?? {};
        done(message === undefined ? null : Object.assign(new Error(message), { responseCode }));
      },
    });
    const env = { SMTP_URL: sink.url, MAIL_FROM: 'Checkout <pay@checkout.example>' };
    server = await startServer({ engine, env });
    merchant = openShop(server);
    await choose('all');
  });
  afterAll(async () => {
    await server.stop();
    await sink.stop();
  });
  beforeEach(() => {
    payers += 1;
  });

  const choose = (kinds: string, ...more: string[]) =>
    merchant.command(
      'mail',
      'choose',
      '--merchant',
      server.bootstrapped.merchantId,
      '--kinds',
      kinds,
      ...more,
    );
  const payer = (name = 'payer') => `${name}-${payers}@example.com`;
  const lettersTo = (email: string) => sink.letters.filter(({ recipients }) => recipients.includes(email));
  const letterTo = (email: string, subject: RegExp): Promise<Letter> =>
    vi.waitFor(() => {
      const found = lettersTo(email).find((letter) => subject.test(letter.subject ?? ''));
      if (!found)
        throw new Error(
          `Only: ${lettersTo(email)
            .map((one) => one.subject)
            .join(', ')}`,
        );
      return found;
    }, patience);
  const lock = (email: string, more: Order = {}) => merchant.lock({ customer: { email }, ...more });
  async function payAndMail({ address }: LockedPayment, amount: number): Promise<void> {
    await merchant.pay(address, amount);
    // The job would do so within a second.
    await mail.rules(server.app).send(signal);
  }
  const stored = (paymentId: string): Promise<MailTable[]> =>
    server.database.reader
      .selectFrom('mails')
      .selectAll()
      .where('payment_id', '=', paymentId)
      .orderBy('created_at')
      .execute();
  /** @param kind of the message; by default, the first one of the payment */
  const until = (paymentId: string, status: string, kind?: MailTable['kind']) =>
    vi.waitFor(async () => {
      const row = (await stored(paymentId)).find((one) => kind === undefined || one.kind === kind);
      expect(row?.status).toBe(status);
      return row;
    }, patience);
  const dueNow = (paymentId: string) =>
    server.database.write(async (transaction) => {
      await transaction.updateTable('mails').set({ due_at: 0 }).where('payment_id', '=', paymentId).execute();
    });

  it('btcpayserver/btcpayserver#910: a message about a payment comes from the shop by name, with its receipt and without images', async () => {
    const locked = await lock(payer(), { txRef: `ORDER-${engine.name}` });
    await payAndMail(locked, 10);
    const letter = await letterTo(payer(), /received your payment/);
    expect(letter).toMatchObject({
      from: { name: 'Nightjar Lanterns', address: 'pay@checkout.example' },
      subject: '[test] Nightjar Lanterns received your payment',
    });
    expect(letter.text).toContain(`10.00 USDT for your order ORDER-${engine.name}`);
    expect(letter.text).toContain(`${server.url}/receipt/${locked.id}`);
    expect(letter.html).not.toMatch(/<img|<script|<link|url\(/);
    expect(letter.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
    expect(lettersTo(payer())).toHaveLength(1);
  });

  it('A message names the missing amount when a part arrives, and another confirms the payment when the rest does', async () => {
    const locked = await lock(payer());
    await payAndMail(locked, 4);
    const part = await letterTo(payer(), /6\.00 USDT still to pay/);
    expect(part.text).toMatch(
      /4\.00 USDT of 10\.00 USDT arrived .* other 6\.00 USDT before 20\d\d-\d\d-\d\d \d\d:\d\d UTC/,
    );
    expect(part.text).toContain(`${server.url}/pay/${locked.id}`);
    await payAndMail(locked, 6);
    await letterTo(payer(), /received your payment/);
  });

  it('btcpayserver/btcpayserver#968: one message says that too much arrived', async () => {
    const locked = await lock(payer());
    await payAndMail(locked, 12);
    const letter = await letterTo(payer(), /paid more than was due/);
    expect(letter.text).toContain('12.00 USDT arrived');
    expect(lettersTo(payer())).toHaveLength(1);
  });

  it('Each late transfer gets a message that it came too late, and not that it is a wrong coin', async () => {
    const locked = await lock(payer());
    await merchant.ask('PATCH', `/v1/payments/${locked.id}/cancel`);
    await payAndMail(locked, 4);
    const letter = await letterTo(payer(), /arrived too late/);
    expect(letter.text).toContain('4.00 USDT arrived');
    expect(lettersTo(payer())).toHaveLength(1);
    await payAndMail(locked, 3);
    await vi.waitFor(() => expect(lettersTo(payer())).toHaveLength(2), patience);
    expect(lettersTo(payer()).every(({ subject }) => subject?.includes('too late'))).toBe(true);
  });

  it('A message brings the link of a refund, which leads to the money, and no copy of the link is kept', async () => {
    const locked = await lock(payer());
    await payAndMail(locked, 15);
    const refund = await merchant.refund(locked.id, { kind: 'excess' });
    const letter = await letterTo(payer(), /sends back 5\.00 USDT/);
    const [link = ''] = /\S+\/refund#[\w-]+/.exec(letter.text ?? '') ?? [];
    expect(link).toBe(refund.claimUrl);
    await vi.waitFor(
      async () =>
        expect(
          (await stored(locked.id)).every(({ link: kept, status }) => status === 'sent' && kept === ''),
        ).toBe(true),
      patience,
    );
    await openClaimBrowser(server).claim(new URL(link).hash.slice(1), externalAddresses.tron);
    const { transferId } = await merchant.ask<{ transferId: string }>(
      'POST',
      `/v1/refunds/${refund.id}/approve`,
      {
        body: { address: externalAddresses.tron },
      },
    );
    const { txHash } = await merchant.until(transferId, 'success');
    const sent = await letterTo(payer(), /refund was sent/);
    expect(sent.text).toContain(`5.00 USDT`);
    expect(sent.text).toContain(txHash);
  });

  it('The link of a refund goes to the payer only, if the shop asks for that', async () => {
    const locked = await lock(payer());
    await payAndMail(locked, 15);
    const path = `/v1/payments/${locked.id}/refunds`;
    const refund = await merchant.ask<object>('POST', path, { body: { kind: 'excess', deliver: 'email' } });
    expect(JSON.stringify(refund)).not.toContain('claimUrl');
    await mail.rules(server.app).send(signal);
    const letter = await letterTo(payer(), /sends back/);
    expect(letter.text).toMatch(/\/refund#[\w-]{43}/);
    const { id } = await merchant.fund({ amount: 15 });
    const refused = await server.api('POST', `/v1/payments/${id}/refunds`, {
      body: { kind: 'excess', deliver: 'email' },
    });
    expect(refused.status).toBe(409);
    // Nothing was reserved for it.
    expect(await merchant.ask('GET', `/v1/payments/${id}`)).not.toHaveProperty('refunds');
  });

  it('A refund by mail is refused for a payer who wants no messages, and nothing is reserved for it', async () => {
    const first = await lock(payer('quiet'));
    await payAndMail(first, 15);
    const [row] = await stored(first.id);
    expect(await mail.rules(server.app).refuse(row?.id ?? '', row?.token ?? '')).toBeTruthy();
    const path = `/v1/payments/${first.id}/refunds`;
    const refused = await server.api('POST', path, { body: { kind: 'excess', deliver: 'email' } });
    expect(refused.status).toBe(409);
    expect(await merchant.ask('GET', `/v1/payments/${first.id}`)).not.toHaveProperty('refunds');
    const refund = await merchant.ask<object>('POST', path, { body: { kind: 'excess' } });
    expect(refund).toHaveProperty('claimUrl');
  });

  it('A retried message whose refund link is gone is dropped, and not sent with an empty link', async () => {
    const locked = await lock(payer('gone'));
    await payAndMail(locked, 15);
    await merchant.refund(locked.id, { kind: 'excess' });
    await mail.rules(server.app).send(signal);
    const failed = await until(locked.id, 'failed', 'refundLink');
    expect(failed).toMatchObject({ link: '' });
    await merchant.command('mail', 'retry', failed?.id ?? '');
    await mail.rules(server.app).send(signal);
    expect(await until(locked.id, 'dropped', 'refundLink')).toMatchObject({
      problem: expect.stringMatching(/refunds link/) as unknown,
    });
  });

  it('A message to an address that the mail server refuses fails, and a deferred one is tried later', async () => {
    const [gone, grey, long] = [
      await lock(payer('gone')),
      await lock(payer('grey')),
      await lock(payer('long')),
    ];
    for (const locked of [gone, grey, long]) await payAndMail(locked, 10);
    expect(await until(gone.id, 'failed')).toMatchObject({
      due_at: null,
      problem: expect.stringMatching(/No such user/) as unknown,
    });
    const huge = await until(long.id, 'failed');
    expect(huge?.problem?.length).toBeLessThan(300);
    const [row] = await vi.waitFor(async () => {
      const rows = await stored(grey.id);
      expect(rows[0]?.tries).toBe(1);
      return rows;
    }, patience);
    expect(row).toMatchObject({ status: 'pending', problem: expect.stringMatching(/Greylisted/) as unknown });
    // Not from now: on a busy machine, the other messages may have taken long.
    expect((row?.due_at ?? 0) - (row?.created_at ?? 0)).toBeGreaterThan(30_000);
  });

  it('A message has the same id when it is sent a second time, as after a crash', async () => {
    const locked = await lock(payer());
    await payAndMail(locked, 10);
    await letterTo(payer(), /received/);
    await until(locked.id, 'sent');
    // A process that was killed after it had sent, and before it said so.
    await server.database.write(async (transaction) => {
      const lost = { status: 'pending', due_at: 0, claim: 'lost', claimed_until: 1, sent_at: null } as const;
      await transaction.updateTable('mails').set(lost).where('payment_id', '=', locked.id).execute();
    });
    await vi.waitFor(() => expect(lettersTo(payer())).toHaveLength(2), patience);
    const ids = new Set(lettersTo(payer()).map(({ messageId }) => messageId));
    expect(ids.size).toBe(1);
  });

  it('usesend/useSend#412, SparkDevNetwork/Rock#7034: messages end when the payer stops them, not when a program opens the link', async () => {
    const locked = await lock(payer());
    await payAndMail(locked, 10);
    const letter = await letterTo(payer(), /received/);
    const header = letter.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
    const url = header.replace(/[<>]/g, '');
    const looked = await fetch(url);
    expect([looked.status, await looked.text()]).toEqual([200, expect.stringContaining('Yes, stop them')]);
    expect((await fetch(`${url}x`)).status).toBe(404);
    expect((await fetch(`${url}x`, { method: 'POST' })).status).toBe(404);
    const before = await lock(payer());
    await payAndMail(before, 10);
    await until(before.id, 'sent');
    const pressed = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    });
    expect(pressed.status).toBe(200);
    const after = await lock(payer());
    await payAndMail(after, 10);
    await until(after.id, 'dropped');
    expect(lettersTo(payer())).toHaveLength(2);
  });

  it('The name of a shop or the address of a payer adds no headers, receivers or links to a message', async () => {
    const { merchantId } = server.bootstrapped;
    const name = 'Shop\r\nBcc: thief@example.net\r\n\r\n<a href="https://thief.example"> {order}';
    await server.database.write((transaction) =>
      server.app.merchants.update(transaction, merchantId, { businessName: name }),
    );
    try {
      const locked = await lock(payer(), { txRef: `x-${engine.name}-shop` });
      await payAndMail(locked, 10);
      const letter = await letterTo(payer(), /received your payment/);
      expect(letter.recipients).toEqual([payer()]);
      expect(letter.bcc ?? []).toEqual([]);
      expect(letter.raw.split('\r\n\r\n')[0]).not.toMatch(/^bcc/im);
      expect(letter.html).not.toMatch(/<a href="https:\/\/thief|<b>/);
      expect(letter.text).toContain(`order x-${engine.name}-shop`);
      const many = await merchant.checkout({ customer: { email: 'a@example.com, b@example.com' } });
      expect(many.status).toBe(400);
    } finally {
      await server.database.write((transaction) =>
        server.app.merchants.update(transaction, merchantId, { businessName: 'Nightjar Lanterns' }),
      );
    }
  });

  it('A message is not sent to a payer who was erased before', async () => {
    const locked = await lock(payer('grey'));
    await payAndMail(locked, 10);
    await vi.waitFor(async () => expect((await stored(locked.id))[0]?.tries).toBe(1), patience);
    await merchant.command('customers', 'erase', payer('grey'), '--merchant', server.bootstrapped.merchantId);
    await dueNow(locked.id);
    expect(await until(locked.id, 'dropped')).toMatchObject({ due_at: null });
  });

  it('A message is written in the language that the shop chose', async () => {
    await choose('receipt', '--language', 'fr', '--reply-to', 'help@shop.example');
    try {
      const locked = await lock(payer());
      await payAndMail(locked, 10);
      const letter = await letterTo(payer(), /./);
      expect(letter.text).toMatch(/USDT/);
      expect(letter.html).toContain('lang="fr"');
      expect(letter.replyTo?.[0]).toMatchObject({ address: 'help@shop.example' });
    } finally {
      await choose('all');
    }
  });

  it('Messages of kinds that the shop did not choose are not sent', async () => {
    await choose('none');
    try {
      const locked = await lock(payer());
      await payAndMail(locked, 10);
      expect(await stored(locked.id)).toEqual([]);
    } finally {
      await choose('all');
    }
  });

  it('Messages wait while the mail server is down, hold up no payment, and are sent when it is back', async () => {
    const port = Number(new URL(sink.url).port);
    await sink.stop();
    const locked = await lock(payer());
    await payAndMail(locked, 10);
    const row = await vi.waitFor(async () => {
      const [first] = await stored(locked.id);
      expect(first?.tries).toBe(1);
      return first;
    }, patience);
    expect(row).toMatchObject({
      status: 'pending',
      problem: expect.stringMatching(/ECONNREFUSED/) as unknown,
    });
    let shown = '';
    const look = async () => {
      const ready = await fetch(`${server.url}/readyz`);
      shown = await ready.text();
      return [ready.status, shown];
    };
    // The sender notes the outage after it has stored the try.
    await expect
      .poll(look, patience)
      .toEqual([200, expect.stringContaining('The mail server takes no messages')]);
    expect(shown).not.toMatch(/ECONNREFUSED|127\.0\.0\.1/);
    expect(await merchant.ask('GET', `/v1/payments/${locked.id}`)).toMatchObject({ status: 'success' });
    sink = await openSink({}, port);
    await dueNow(locked.id);
    await letterTo(payer(), /received/);
  });

  it('Messages are deleted once they were kept long enough', async () => {
    const locked = await lock(payer());
    await payAndMail(locked, 10);
    await until(locked.id, 'sent');
    const old = Date.now() - retention.mailMs - 1000;
    await server.database.write(async (transaction) => {
      await transaction
        .updateTable('mails')
        .set({ created_at: old })
        .where('payment_id', '=', locked.id)
        .execute();
    });
    const before = await server.database.reader.selectFrom('mails').select('id').execute();
    await mail.rules(server.app).prune(signal);
    const after = await server.database.reader.selectFrom('mails').select('id').execute();
    expect([before.length - after.length, await stored(locked.id)]).toEqual([1, []]);
  });

  it('The commands for mail refuse wrong values, and list messages without addresses or links', async () => {
    expect(await merchant.refusal('mail', 'test', '--to', 'nobody')).toMatch(/SMTP_URL|e-mail address/);
    expect(
      await merchant.refusal(
        'mail',
        'choose',
        '--merchant',
        server.bootstrapped.merchantId,
        '--kinds',
        'recipe',
      ),
    ).toMatch(/"recipe" is not a kind. Use receipt, part/);
    const rows = (await merchant.command(
      'mail',
      'list',
      '--merchant',
      server.bootstrapped.merchantId,
    )) as object[];
    expect(rows.length).toBeGreaterThan(5);
    expect(JSON.stringify(rows)).not.toMatch(/@example|refund#/);
  });
});

describe('Two servers', () => {
  it('Two servers send each message once', async () => {
    const sink = await openSink();
    const env = { SMTP_URL: sink.url, MAIL_FROM: 'pay@checkout.example' };
    const database = await lastEngine.create();
    const first = await startServer({ engine: lastEngine, databaseUrl: database.url, env });
    const { secretKey } = first;
    const second = await startServer({ engine: lastEngine, databaseUrl: database.url, env });
    const merchant = openShop(first);
    await merchant.command('mail', 'choose', '--merchant', first.bootstrapped.merchantId, '--kinds', 'all');
    const count = 12;
    for (let n = 0; n < count; n += 1) {
      const { id } = await openShop(second, secretKey).create({ customer: { email: 'payer@example.com' } });
      const { address } = await merchant.choose(id);
      await merchant.send(address, 10);
    }
    await merchant.mine();
    await vi.waitFor(() => expect(sink.letters.length).toBeGreaterThanOrEqual(count), { timeout: 20_000 });
    // Long enough for the other server's turn.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(sink.letters).toHaveLength(count);
    expect(new Set(sink.letters.map(({ messageId }) => messageId)).size).toBe(count);
    await second.stop();
    await first.stop();
    await sink.stop();
    await database.dispose();
  });
});
