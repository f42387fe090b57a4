/**
 * Attacks on a merchant and on other payers by somebody with only the public key and a payment's link.
 */
import { randomBytes } from 'node:crypto';
import { createCheckoutClient } from 'crypto-checkout/client';
import type { PaymentRecord } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/call.js';
import { enginesOfSoak } from '../support/engines.js';
import { createRecords, type Records } from '../support/records.js';
import { roundsOf } from '../support/rounds.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, type Order } from '../support/shop.js';

const payer = { email: 'ada.lovelace@example.com', name: 'Ada Maria Lovelace', phoneNumber: '+15550100' };
const repeats = roundsOf({ usual: 100, soak: 600 });

describe.each(enginesOfSoak)('a stranger with the public key, on $name', (engine) => {
  let server: TestServer;
  let records: Records;

  beforeAll(async () => {
    server = await startServer({ engine });
    records = createRecords(server);
  });
  afterAll(() => server.stop());

  const reference = () => `order-${randomBytes(8).toString('hex')}`;
  const orderAs = (key: string, order: Order, headers?: Record<string, string>) =>
    openShop(server).checkout({ ...order, key }, headers);
  const paymentOf = ({ status, body }: Answer) => {
    expect(status, JSON.stringify(body)).toBe(200);
    return (body.data['payment'] ?? body.data) as unknown as PaymentRecord;
  };
  const codeOf = ({ status, body }: Answer) => [status, body.data.code];
  const change = (id: string, path: string, key = server.publicKey) =>
    server.api('PATCH', `/v1/payments/${id}/${path}`, {
      key,
      headers: { 'Idempotency-Key': randomBytes(16).toString('hex') },
    });
  const logOf = (id: string) =>
    server.database.reader
      .selectFrom('log_entries')
      .select('event')
      .where('payment_id', '=', id)
      .orderBy('id')
      .execute();
  const setOrigins = (origins: readonly string[] | null) =>
    server.database.write(async (transaction) => {
      const { merchantId } = server.bootstrapped;
      const value = origins && JSON.stringify(origins);
      await transaction
        .updateTable('merchants')
        .set({ redirect_origins: value })
        .where('id', '=', merchantId)
        .execute();
      // The server keeps settings in memory; this makes it read them again.
      await server.app.merchants.update(transaction, merchantId, { name: 'Example Shop' });
    });

  describe('the references', () => {
    it('A stranger and the merchant’s server cannot take a reference from each other', async () => {
      const txRef = reference();
      const strangers = paymentOf(await orderAs(server.publicKey, { txRef }));
      const own = paymentOf(await orderAs(server.secretKey, { txRef }));
      expect([strangers.txRef, own.txRef]).toEqual([txRef, txRef]);
      expect(own.id).not.toBe(strangers.id);
      const [again, stolen] = [
        await orderAs(server.secretKey, { txRef }),
        await orderAs(server.publicKey, { txRef }),
      ];
      expect([codeOf(again), again.body.data['paymentId']]).toEqual([[409, 'duplicate_tx_ref'], own.id]);
      expect(codeOf(stolen)).toEqual([409, 'duplicate_tx_ref']);
      expect(stolen.body.data).not.toHaveProperty('paymentId');
    });

    it('A reference stays taken when its payment has ended', async () => {
      const txRef = reference();
      const { id } = paymentOf(await orderAs(server.publicKey, { txRef }));
      expect((await change(id, 'cancel')).status).toBe(200);
      expect(codeOf(await orderAs(server.publicKey, { txRef }))).toEqual([409, 'duplicate_tx_ref']);
    });

    it('Two payments with one reference are both listed, and each verifies as itself', async () => {
      const txRef = reference();
      const strangers = paymentOf(await orderAs(server.publicKey, { txRef, amount: 0.5 }));
      const own = paymentOf(await orderAs(server.secretKey, { txRef }));
      const { body } = await server.api('GET', `/v1/transactions?txRef=${txRef}`);
      const listed = body.data as unknown as PaymentRecord[];
      expect(new Set(listed.map(({ id }) => id))).toEqual(new Set([own.id, strangers.id]));
      for (const [{ id }, baseAmount] of [
        [own, 10],
        [strangers, 0.5],
      ] as const) {
        const verified = await server.api('GET', `/v1/transactions/${id}/verify`);
        expect(verified.body.data).toMatchObject({ id, txRef, baseAmount });
      }
    });
  });

  describe('the payer', () => {
    const secrets = /lovelace|ada\.|maria|15550100/i;
    const shortened = {
      description: 'Payment from A. M. L.',
      customer: 'a…@example.com',
      customerDetails: { email: 'a…@example.com', fullName: 'A. M. L.' },
    };

    it('A stranger reads only initials and a shortened email of a payment that the merchant’s server created', async () => {
      const { id } = paymentOf(
        await orderAs(server.secretKey, { customer: payer, metadata: { crm: 'lovelace' } }),
      );
      const replies = [
        await server.api('GET', `/v1/payments/${id}`, { key: server.publicKey }),
        await server.api('GET', `/v1/payments/checkout/${id}`, { key: server.publicKey }),
        await server.api('GET', `/v1/transactions/${id}/verify/checkout`, { key: server.publicKey }),
        await change(id, 'currency/set/USDT/tron'),
        await change(id, 'currency/lock'),
      ];
      for (const reply of replies) {
        expect(paymentOf(reply)).toMatchObject(shortened);
        expect(JSON.stringify(reply.body)).not.toMatch(secrets);
        for (const hidden of ['metadata', 'credited']) expect(reply.body.data).not.toHaveProperty(hidden);
      }
      const page = await fetch(`${server.url}/pay/${id}`);
      expect(await page.text()).not.toMatch(secrets);
    });

    it('A stranger gets no more of the payer from the create call, nor from its replay', async () => {
      const headers = { 'Idempotency-Key': randomBytes(16).toString('hex') };
      const body = { customer: payer, txRef: reference() };
      const first = await orderAs(server.publicKey, body, headers);
      const replay = await orderAs(server.publicKey, body, headers);
      expect(replay.headers.get('idempotent-replayed')).toBe('true');
      for (const reply of [first, replay]) {
        expect(paymentOf(reply)).toMatchObject(shortened);
        expect(JSON.stringify(reply.body)).not.toMatch(secrets);
      }
      const { id } = paymentOf(first);
      const whole = await server.api('GET', `/v1/transactions/${id}/verify/checkout`);
      expect(whole.body.data).toMatchObject({
        customer: payer.email,
        customerDetails: { email: payer.email, fullName: payer.name, phoneNumber: payer.phoneNumber },
      });
    });

    it('A stranger reads no name of a wallet from a deposit', async () => {
      const { data: wallet } = await records.merchant.wallets.create({
        body: { currency: 'USDT', label: 'Ada Lovelace' },
      });
      const address = wallet.addresses.find(({ network }) => network === 'tron')?.address ?? '';
      await records.shop.send(address, 1);
      const deposit = await server.database.reader
        .selectFrom('payments')
        .select('id')
        .where('wallet_id', '=', wallet.id)
        .executeTakeFirstOrThrow();
      const path = `/v1/transactions/${deposit.id}/verify/checkout`;
      const seen = await server.api('GET', path, { key: server.publicKey });
      expect(paymentOf(seen)).toMatchObject({ description: 'Deposit to a wallet', customer: 'anonymous' });
      expect((await server.api('GET', path)).body.data['description']).toBe('Deposit to wallet Ada Lovelace');
    });
  });

  describe('the transfers', () => {
    const insertTransfers = async (address: string, amounts: readonly number[]) => {
      await server.database.write((transaction) =>
        transaction
          .insertInto('simulated_transfers')
          .values(
            amounts.map((amount) => ({
              tx_hash: randomBytes(32).toString('hex'),
              merchant_id: server.bootstrapped.merchantId,
              network: 'tron',
              currency: 'USDT',
              sender: 'T',
              address,
              amount: String(amount),
              sent_at: Date.now(),
              block_height: null,
            })),
          )
          .execute(),
      );
      await records.shop.mine(3);
    };
    const many = (count: number, amount: number) => Array.from({ length: count }, () => amount);

    it('Transfers cannot make the reply to a payer long, however many are sent to a payment', async () => {
      const { id, address, amount } = await records.lockedPayment();
      await insertTransfers(address, [...many(400, 1), ...many(60, 1_000_000)]);
      const read = (path: string, key = server.secretKey) =>
        server.api('GET', `/v1/transactions/${id}/${path}`, { key });
      const reply = await read('verify/checkout', server.publicKey);
      const payment = paymentOf(reply);
      expect(JSON.stringify(reply.body).length).toBeLessThan(32_000);
      expect(payment.receipts).toHaveLength(20);
      expect(new Set(payment.receipts.map((receipt) => receipt.amount))).toEqual(new Set([1]));
      expect(payment.unlistedReceipts).toEqual([
        { network: 'tron', currency: 'USDT', count: 440, amount: 40.0004 },
      ]);
      expect(payment.amountReceived).toBe(60.0004);
      expect(amount).toBeLessThan(60);
      expect(payment.transactionTimeLog).toHaveLength(50);
      // Dust has no entries; each of the others has two.
      expect(payment.unlistedLogEntries).toBeLessThan(2 * 60);
      const { body } = await read('receipts?page=5&skip=100');
      expect(body.data).toHaveLength(60);
      expect(body.meta).toEqual({ pagination: { total: 460, count: 60, from: 401, to: 460 } });
      const log = (await read('events')).body.data as unknown as unknown[];
      expect(log).toHaveLength(50 + (payment.unlistedLogEntries ?? 0));
      expect(payment.transactionTimeLog).toEqual(log.slice(-50));
      for (const path of ['receipts', 'events']) {
        expect(codeOf(await read(path, server.publicKey))).toEqual([403, 'secret_key_required']);
      }
    });

    it('Transfers are read again only when something has changed', async () => {
      const { id, address, amount } = await records.lockedPayment();
      await insertTransfers(address, many(20, 1));
      const path = `/v1/transactions/${id}/verify/checkout`;
      const read = async () => paymentOf(await server.api('GET', path, { key: server.publicKey }));
      const first = await read();
      expect(first.unlistedReceipts?.[0]?.count).toBe(20);
      // Behind the server's back: what it reads again would show it.
      const hide = (isDust: 0 | 1) =>
        server.database.write((transaction) =>
          transaction.updateTable('receipts').set({ is_dust: isDust }).where('payment_id', '=', id).execute(),
        );
      await hide(0);
      expect((await read()).receipts).toEqual([]);
      await hide(1);
      await insertTransfers(address, [amount * 1_000_000]);
      const paid = await read();
      expect([paid.status, paid.receipts.length, paid.unlistedReceipts?.[0]?.count]).toEqual([
        'success',
        1,
        20,
      ]);
    });
  });

  describe('the page that the payer goes to', () => {
    const evil = 'https://evil.example/login';

    it('A stranger cannot make the page leave for another site automatically', async () => {
      const strangers = paymentOf(await orderAs(server.publicKey, { redirectUrl: evil }));
      expect([strangers.redirectUrl, strangers.isRedirectTrusted]).toEqual([evil, false]);
      const own = paymentOf(await orderAs(server.secretKey, { redirectUrl: 'https://shop.example/thanks' }));
      expect(own.isRedirectTrusted).toBe(true);
      const checkout = createCheckoutClient({ apiUrl: server.url, publicKey: server.publicKey });
      expect((await checkout.retrieve(strangers.id)).data.isRedirectTrusted).toBe(false);
      expect((await checkout.verify(own.id)).data.isRedirectTrusted).toBe(true);
    });

    it('A stranger cannot store a redirect URL longer than 2048 bytes, whatever its letters', async () => {
      const of = (letters: string) => `https://shop.example/${letters}`;
      for (const letters of ['x'.repeat(2028), '漢'.repeat(226)]) {
        const refused = await orderAs(server.publicKey, { redirectUrl: of(letters) });
        expect([...codeOf(refused), refused.body.data.param]).toEqual([
          400,
          'validation_error',
          'redirectUrl',
        ]);
      }
      // As browsers write it, each of these takes nine bytes.
      for (const letters of ['x'.repeat(2027), '漢'.repeat(225)]) {
        expect((await orderAs(server.publicKey, { redirectUrl: of(letters) })).status).toBe(200);
      }
    });

    it('A stranger can name only the origins that the merchant allows, once there are some', async () => {
      await setOrigins(['https://shop.example', 'https://www.shop.example:8443']);
      for (const redirectUrl of [
        evil,
        'https://shop.example.evil.example/',
        'https://evil.example/https://shop.example',
        'https://shop.example:444/',
        'https://sub.shop.example/',
        'http://localhost:3000/',
        'https:\\\\evil.example/',
        'https://shop.example@evil.example/',
        '//shop.example/',
      ]) {
        const refused = await orderAs(server.publicKey, { redirectUrl });
        expect([...codeOf(refused), refused.body.data.param], redirectUrl).toEqual([
          400,
          'validation_error',
          'redirectUrl',
        ]);
      }
      for (const redirectUrl of ['https://SHOP.example/thanks?a=1#b', 'https://www.shop.example:8443/']) {
        const { isRedirectTrusted } = paymentOf(await orderAs(server.publicKey, { redirectUrl }));
        expect(isRedirectTrusted, redirectUrl).toBe(true);
      }
      expect(paymentOf(await orderAs(server.publicKey, {})).redirectUrl).toBe('');
      // The merchant's server may send payers anywhere.
      expect(paymentOf(await orderAs(server.secretKey, { redirectUrl: evil })).isRedirectTrusted).toBe(true);
      await setOrigins([]);
      expect(codeOf(await orderAs(server.publicKey, { redirectUrl: 'https://shop.example/' }))).toEqual([
        400,
        'validation_error',
      ]);
      await setOrigins(null);
      expect(paymentOf(await orderAs(server.publicKey, { redirectUrl: evil })).isRedirectTrusted).toBe(false);
    });
  });

  describe('the database', () => {
    it(`The log grows by one entry at most with ${repeats} repeated locks`, async () => {
      const id = await records.setPayment();
      expect((await change(id, 'currency/lock')).status).toBe(200);
      const before = (await logOf(id)).length;
      for (let done = 0; done < repeats; done += 50) {
        const replies = await Promise.all(Array.from({ length: 50 }, () => change(id, 'currency/lock')));
        expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
      }
      const log = await logOf(id);
      expect(log.length - before).toBe(1);
      expect(log.at(-1)?.event).toBe('Currency already locked');
    });

    it('The log keeps the first choices of a payer who keeps choosing, and the last', async () => {
      const id = await records.payment();
      const paths = ['currency/set/USDT/tron', 'currency/set/BTC/bitcoin'];
      const replies = [];
      for (let time = 0; time < 60; time += 1) replies.push(await change(id, paths[time % 2] ?? ''));
      const log = (await logOf(id)).map(({ event }) => event);
      expect(log).toHaveLength(20);
      expect(log.at(-1)).toBe('Currency set to BTC on bitcoin');
      for (const reply of replies.slice(-2)) {
        const { currency, transactionTimeLog } = paymentOf(reply);
        expect(transactionTimeLog).toHaveLength(20);
        expect(transactionTimeLog.at(-1)?.values.currency).toBe(currency);
      }
      const last = replies.at(-1);
      if (!last) throw new Error('There is no reply');
      expect(paymentOf(last).transactionTimeLog).toEqual(
        paymentOf(await server.api('GET', `/v1/payments/${id}`)).transactionTimeLog,
      );
      // The merchant's server is not limited.
      await change(id, paths[0] ?? '', server.secretKey);
      expect(await logOf(id)).toHaveLength(21);
    });

    it('The log has a choice once, however often it is sent, and each new choice', async () => {
      const id = await records.payment();
      const path = 'currency/set/USDT/tron';
      for (let time = 0; time < 5; time += 1) expect((await change(id, path)).status).toBe(200);
      await change(id, 'currency/set/BTC/bitcoin');
      await change(id, path);
      expect((await logOf(id)).map(({ event }) => event)).toEqual([
        'Payment started',
        'Currency set to USDT on tron',
        'Currency set to BTC on bitcoin',
        'Currency set to USDT on tron',
      ]);
    });
  });
});

describe.each(enginesOfSoak)('the changes of one payment with a public key, on $name', (engine) => {
  let server: TestServer;
  let replica: TestServer;
  const limits = {
    RATE_LIMIT: 'on',
    RATE_LIMIT_PAYMENT_CHANGES_PER_HOUR: '6',
    RATE_LIMIT_PUBLIC_PER_SECOND: '1000',
    RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_IP: '1000',
  };

  beforeAll(async () => {
    server = await startServer({ engine, env: limits });
    // SQLite has one server only.
    replica =
      engine.name === 'SQLite'
        ? server
        : await startServer({
            engine,
            databaseUrl: server.databaseUrl,
            env: {
              ...limits,
              BOOTSTRAP_SECRET_KEY: server.secretKey,
              BOOTSTRAP_PUBLIC_KEY: server.publicKey,
            },
          });
  });
  afterAll(async () => {
    if (replica !== server) await replica.stop();
    await server.stop();
  });

  const created = async () => (await openShop(server).create()).id;
  const changeAt = (at: TestServer, id: string, path: string, key = server.publicKey) =>
    at.api('PATCH', `/v1/payments/checkout/${id}/${path}`, { key });

  it('Public changes of a payment are limited by the hour on all servers together, with a time to retry', async () => {
    const id = await created();
    const statuses = [];
    for (let time = 0; time < 9; time += 1) {
      statuses.push((await changeAt(time % 2 ? replica : server, id, 'currency/set/USDT/tron')).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429, 429]);
    for (const path of ['currency/lock', 'cancel', 'currency/set/BTC/bitcoin']) {
      const refused = await changeAt(replica, id, path);
      expect([refused.status, refused.body.data.code], path).toEqual([429, 'rate_limited']);
      const retryAfter = Number(refused.headers.get('retry-after'));
      expect(retryAfter).toBeGreaterThan(3500);
      expect(retryAfter).toBeLessThanOrEqual(3600);
    }
    // Nothing was changed, another payment and the merchant's server are free, and so is this payment an hour later.
    expect((await server.api('GET', `/v1/payments/${id}`)).body.data['currency']).toBe('USDT');
    expect((await changeAt(server, await created(), 'currency/set/USDT/tron')).status).toBe(200);
    for (let time = 0; time < 9; time += 1) {
      expect((await changeAt(server, id, 'currency/set/USDT/tron', server.secretKey)).status).toBe(200);
    }
    await server.database.write((transaction) =>
      transaction
        .updateTable('payments')
        .set((e) => ({ public_changes_since: e('public_changes_since', '-', 3_600_000) }))
        .where('id', '=', id)
        .execute(),
    );
    expect((await changeAt(server, id, 'currency/lock')).status).toBe(200);
  });

  it('Repeated locks and cancellations of a payment count as changes too: each would otherwise store a reply', async () => {
    const id = await created();
    expect((await changeAt(server, id, 'currency/set/USDT/tron')).status).toBe(200);
    const locks = [];
    for (let time = 0; time < 4; time += 1) locks.push((await changeAt(server, id, 'currency/lock')).status);
    expect(locks).toEqual([200, 200, 200, 200]);
    expect((await changeAt(server, id, 'cancel')).status).toBe(200);
    expect((await changeAt(server, id, 'cancel')).status).toBe(429);
    expect((await server.api('GET', `/v1/payments/${id}`)).body.data['status']).toBe('cancelled');
  });

  it('A payment takes 60 public changes in an hour by default', async () => {
    const { readConfig } = await import('../../src/core/config.js');
    expect(readConfig({}).limits?.paymentChangesPerHour).toBe(60);
  });
});
