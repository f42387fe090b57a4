/** The life of a payment over real HTTP, on both engines: its states, amounts and log, and the merchant's credits. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCheckoutClient, createMerchantClient } from 'crypto-checkout/client';
import type { Payment } from 'crypto-checkout/contract';
import { WrongForm } from '../../src/core/db/codecs.js';
import { testCoins, testOptions } from '../support/coins.js';
import { enginesOfTurn } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const price = { amount: 5000, baseCurrency: 'NGN' };
/** 5,000 naira in USDT, at 1,540 naira per dollar, rounded up. */
const due = 3.25;

describe.each(enginesOfTurn)('a payment, on $name', (engine) => {
  let server: TestServer;
  let shop: Shop;
  let checkout: ReturnType<typeof createCheckoutClient>;
  let merchant: ReturnType<typeof createMerchantClient>;

  beforeAll(async () => {
    server = await startServer({ engine });
    shop = openShop(server);
    checkout = createCheckoutClient({ apiUrl: server.url, publicKey: server.publicKey });
    merchant = createMerchantClient({ apiUrl: server.url, secretKey: server.secretKey });
  });

  afterAll(async () => {
    await shop.expectBooksInOrder();
    await server.stop();
  });

  const verify = async (id: string) => (await checkout.verify(id)).data;

  async function lock(currency = 'USDT', network = 'tron'): Promise<Payment & { address: string }> {
    const { data } = await checkout.create({ ...price, txRef: `order-${randomBytes(8).toString('hex')}` });
    await checkout.setCurrency(data.payment.id, currency, network);
    const { data: locked } = await checkout.lockCurrency(data.payment.id);
    return { ...locked, address: locked.addressInformation?.address ?? '' };
  }

  /** The merchant's available balance, in units. */
  async function available(currency: string): Promise<bigint> {
    const account = await server.database.reader
      .selectFrom('ledger_accounts')
      .select('balance')
      .where('kind', '=', 'available')
      .where('currency', '=', currency)
      .executeTakeFirst();
    return BigInt(account?.balance ?? '0');
  }

  const lastEvent = (payment: Payment) => payment.transactionTimeLog.at(-1);
  const events = (payment: Payment) => payment.transactionTimeLog.map((entry) => entry.event);

  it('A payment starts in progress and unlocked, with all currency options and no amount yet', async () => {
    const before = Date.now();
    const { data } = await checkout.create({
      ...price,
      txRef: 'order-created',
      customer: { email: 'ada@example.com', name: 'Ada Example' },
    });
    const { payment, url } = data;
    expect(payment).toMatchObject({
      _id: payment.id,
      mode: 'test',
      status: 'in progress',
      state: 'created',
      amount: 0,
      baseAmount: 5000,
      baseCurrency: 'NGN',
      totalDue: 5000,
      transactionFees: 50,
      customer: 'a…@example.com',
      customerDetails: { email: 'a…@example.com', fullName: 'A. E.' },
      description: 'Payment from A. E.',
      isCurrencyLocked: false,
      addressSentFrom: [],
    });
    expect(payment.id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(url).toBe(`${server.url}/pay/${payment.id}`);
    expect(payment.addressInformation).toBeUndefined();
    expect(payment.currencies).toEqual(testCoins);
    const options = payment.currencyOptions?.map(({ currency, network }) => ({ currency, network }));
    expect(options).toEqual(testOptions);
    expect(payment.expiresBy).toBeGreaterThanOrEqual(before + 86_400_000);
    expect(events(payment)).toEqual(['Payment started']);
  });

  it('A payment takes one address, at the lock, however many coins and networks the payer looks at', async () => {
    const { data } = await checkout.create(price);
    const { id } = data.payment;
    const addresses = () =>
      server.database.reader.selectFrom('addresses').selectAll().where('payment_id', '=', id).execute();
    for (const { currency, network } of data.payment.currencyOptions ?? []) {
      const set = (await checkout.setCurrency(id, currency, network)).data;
      expect(set).toMatchObject({ currency, currencyNetwork: network, currencies: [] });
      expect(set.addressInformation).toBeUndefined();
    }
    const set = (await checkout.setCurrency(id, 'usdt', 'TRON')).data;
    expect(set).toMatchObject({ currency: 'USDT', currencyNetwork: 'tron', amount: due, currencies: [] });
    expect(await addresses()).toEqual([]);

    const locked = (await checkout.lockCurrency(id)).data;
    const [tron, ...others] = await addresses();
    expect([tron?.network, tron?.currency, others]).toEqual(['tron', 'USDT', []]);
    expect(locked).toMatchObject({
      isCurrencyLocked: true,
      amount: due,
      amountDue: due,
      fee: 0.0325,
      addressInformation: { network: 'tron', address: tron?.address, id: tron?.id },
    });
    expect(locked.currencyOptions).toBeUndefined();
    const again = (await checkout.lockCurrency(id)).data;
    const { expiresBy, addressInformation } = locked;
    expect(again).toMatchObject({ amount: due, expiresBy, addressInformation });
    expect(again.transactionTimeLog).toHaveLength(locked.transactionTimeLog.length + 1);
  });

  it('A payment succeeds once when it has its confirmations, and credits the amount less the fee', async () => {
    const before = await available('USDT');
    const { id, address } = await lock();
    await shop.send(address, due);
    expect(await verify(id)).toMatchObject({
      state: 'confirming',
      amountSeen: due,
      amountReceived: 0,
      amountDue: 0,
    });
    await shop.mine(1);
    expect(await verify(id)).toMatchObject({
      status: 'in progress',
      confirmations: 1,
      confirmationsRequired: 2,
    });
    await shop.mine(1);
    const paid = await verify(id);
    expect(paid).toMatchObject({
      status: 'success',
      state: 'settled',
      amountReceived: due,
      nairaValue: 5005,
      dollarValue: 3.25,
      confirmations: 2,
    });
    expect(paid.addressSentFrom).toHaveLength(1);
    expect(lastEvent(paid)).toMatchObject({
      type: 'success',
      event: 'Payment complete: 3.25 USDT received',
    });
    await shop.mine(5);
    expect(await verify(id)).toEqual(paid);
    expect((await available('USDT')) - before).toBe(3_250_000n - 32_500n);
    const fee = (await merchant.transactions.fee({ params: { transaction_id: id } })).data;
    expect(fee).toEqual({
      fee: 0.0325,
      nairaValue: 5005,
      dollarValue: 3.25,
      amountReceived: due,
      baseAmount: 5000,
      baseCurrency: 'NGN',
    });
  });

  it('A payment that is underpaid accepts a top-up', async () => {
    const { id, address } = await lock();
    await shop.pay(address, 1);
    const partial = await verify(id);
    expect(partial).toMatchObject({ state: 'partially_paid', amountReceived: 1, amountDue: 2.25 });
    expect(events(partial)).toContain('Underpaid so far: 1 of 3.25 USDT seen');
    await shop.pay(address, 2.25);
    expect(await verify(id)).toMatchObject({ status: 'success', state: 'settled', amountReceived: due });
  });

  it('A payment that received too many decimals asks for a sum that can be sent, and credits all of it', async () => {
    const before = await available('USDT');
    const { id, address } = await lock();
    await shop.send(address, 3.249999);
    const partial = await verify(id);
    expect(partial).toMatchObject({ state: 'partially_paid', amountSeen: 3.249999, amountDue: 0.01 });
    await shop.pay(address, 0.01);
    const paid = await verify(id);
    expect(paid).toMatchObject({ state: 'settled_over', amountDue: 0, amountReceived: 3.259999 });
    expect(lastEvent(paid)?.event).toContain('0.009999 USDT more than due');
    expect((await available('USDT')) - before).toBe(3_259_999n - 32_599n);
  });

  it('A payment that is short by less than the decimals of a reply asks for enough to succeed', async () => {
    const { id, address, amount } = await lock('ETH', 'base');
    // More than the 8 decimals of ether, as sent by wallets that empty their balance.
    await shop.send(address, 0.000100000000001, { currency: 'ETH', network: 'base' });
    const partial = await verify(id);
    expect(partial).toMatchObject({ amount, amountSeen: 0.0001 });
    await shop.send(address, partial.amountDue ?? 0, { currency: 'ETH', network: 'base' });
    await shop.mine(2, 'base');
    expect(await verify(id)).toMatchObject({ status: 'success', amountDue: 0, amountReceived: amount });
  });

  it('A payment that is overpaid succeeds once and credits the excess', async () => {
    const before = await available('USDT');
    const { id, address } = await lock();
    await shop.pay(address, 5);
    const paid = await verify(id);
    expect(paid).toMatchObject({ status: 'success', state: 'settled_over', amountReceived: 5 });
    expect(lastEvent(paid)?.event).toContain('1.75 USDT more than due');
    expect((await available('USDT')) - before).toBe(4_950_000n);
  });

  it('A payment that is paid twice is overpaid, and credits both transfers', async () => {
    const before = await available('USDT');
    const { id, address } = await lock();
    await shop.pay(address, due);
    await shop.pay(address, due);
    const paid = await verify(id);
    expect(paid).toMatchObject({ status: 'success', state: 'settled_over', amountReceived: 6.5 });
    expect(paid.transactionTimeLog.filter((entry) => entry.type === 'success')).toHaveLength(1);
    expect((await available('USDT')) - before).toBe(2n * (3_250_000n - 32_500n));
  });

  it('A payment expires at its deadline when nothing arrives, and not before', async () => {
    let id: string;
    // The server's clock keeps running: a try counts only if it took less than the second that is left.
    for (let tries = 1; ; tries += 1) {
      const startedAt = performance.now();
      ({ id } = await lock());
      await shop.advance(1799);
      const { status } = await verify(id);
      if (performance.now() - startedAt < 1000) {
        expect(status).toBe('in progress');
        break;
      }
      expect(tries, 'each try took more than a second').toBeLessThan(20);
    }
    await shop.advance(2);
    const expired = await verify(id);
    expect(expired).toMatchObject({ status: 'error', state: 'expired' });
    expect(lastEvent(expired)).toMatchObject({
      type: 'error',
      event: 'Payment expired: nothing arrived in time',
    });
    const cancelled = await server.api('PATCH', `/v1/payments/${id}/cancel`, { key: server.publicKey });
    expect([cancelled.status, cancelled.body.data.code]).toEqual([409, 'invalid_state']);
  });

  it('A payment cannot be locked after its deadline, even if it has not been marked as expired yet', async () => {
    const { data } = await checkout.create(price);
    const { id } = data.payment;
    await checkout.setCurrency(id, 'USDT', 'tron');
    // Its state stays as it is: the job that expires payments takes the due ones every few seconds.
    await server.database.write((transaction) =>
      transaction.updateTable('payments').set({ expires_at: 1 }).where('id', '=', id).execute(),
    );
    const { status, body } = await server.api('PATCH', `/v1/payments/${id}/currency/lock`, {
      key: server.publicKey,
    });
    expect([status, body.data.code]).toEqual([409, 'invalid_state']);
    const { locked_at: lockedAt, quote } = await server.database.reader
      .selectFrom('payments')
      .select(['locked_at', 'quote'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect([lockedAt, quote]).toEqual([null, null]);
  });

  it('A payment expires a day after its creation when no currency is locked', async () => {
    const { data } = await checkout.create(price);
    await checkout.setCurrency(data.payment.id, 'USDT', 'tron');
    await shop.advance(86_401);
    expect(await verify(data.payment.id)).toMatchObject({ status: 'error', state: 'expired' });
  });

  it('A payment expires even if another payment fails to', async () => {
    const [broken, sound] = [(await checkout.create(price)).data, (await checkout.create(price)).data];
    const change = (id: string, row: { base_amount?: string; expires_at?: number }) =>
      server.database.write((transaction) =>
        transaction.updateTable('payments').set(row).where('id', '=', id).execute(),
      );
    await change(broken.payment.id, { base_amount: 'broken', expires_at: 1 });
    await change(sound.payment.id, { expires_at: 2 });
    const expiry = server.app.payments.expireOverdue(new AbortController().signal);
    await expect(expiry).rejects.toThrow(WrongForm);
    expect(await verify(sound.payment.id)).toMatchObject({ status: 'error', state: 'expired' });
    await change(broken.payment.id, { base_amount: '500000' });
  });

  it('A payment does not expire while funds that were seen in time wait for confirmations', async () => {
    const { id, address } = await lock();
    await shop.send(address, due);
    await shop.advance(1801);
    expect(await verify(id)).toMatchObject({ status: 'in progress', state: 'confirming' });
    await shop.mine(2);
    expect(await verify(id)).toMatchObject({ status: 'success', state: 'settled' });
  });

  it('A payment expires despite unconfirmed funds that do not count', async () => {
    const { id, address } = await lock('USDC', 'base');
    await shop.send(address, due, { currency: 'USDC', network: 'polygon' });
    await shop.advance(1801);
    expect(await verify(id)).toMatchObject({ status: 'error', state: 'invalid' });
  });

  it('A payment that expires partially paid credits the part', async () => {
    const before = await available('USDT');
    const { id, address } = await lock();
    await shop.pay(address, 1);
    expect(await available('USDT')).toBe(before);
    await shop.advance(1801);
    expect(await verify(id)).toMatchObject({ status: 'error', state: 'expired_partial', amountReceived: 1 });
    expect((await available('USDT')) - before).toBe(990_000n);
  });

  it('A payment that is paid late, in full and without loss of value, succeeds', async () => {
    const { id, address } = await lock();
    await shop.advance(1801);
    expect((await verify(id)).status).toBe('error');
    await shop.pay(address, due);
    const paid = await verify(id);
    expect(paid).toMatchObject({ status: 'success', state: 'settled_late', amountReceived: due });
    expect(lastEvent(paid)).toMatchObject({ type: 'success' });
  });

  it('A payment that is paid late in part stays an error and credits the part', async () => {
    const before = await available('USDT');
    const { id, address } = await lock();
    await shop.advance(1801);
    await shop.pay(address, 2);
    const late = await verify(id);
    expect(late).toMatchObject({ status: 'error', state: 'expired_late', amountReceived: 2 });
    expect(lastEvent(late)?.event).toContain('Paid late');
    expect((await available('USDT')) - before).toBe(1_980_000n);
  });

  it('A payment that is cancelled stays cancelled, and a second cancel changes nothing', async () => {
    const { id } = await lock();
    await checkout.cancel(id);
    const cancelled = await verify(id);
    await checkout.cancel(id);
    expect(await verify(id)).toEqual(cancelled);
    expect(cancelled).toMatchObject({ status: 'cancelled', state: 'cancelled' });
  });

  it('A payment that was paid before it was cancelled still succeeds', async () => {
    const { id, address } = await lock();
    await shop.send(address, due);
    await checkout.cancel(id);
    expect((await verify(id)).status).toBe('cancelled');
    await shop.mine(2);
    expect(await verify(id)).toMatchObject({ status: 'success', state: 'settled' });
  });

  it('A payment that is paid after it was cancelled stays cancelled and credits the funds', async () => {
    const before = await available('USDT');
    const { id, address } = await lock();
    await checkout.cancel(id);
    await shop.advance(1);
    await shop.pay(address, due);
    expect(await verify(id)).toMatchObject({ status: 'cancelled', state: 'cancelled_paid' });
    expect((await available('USDT')) - before).toBe(3_250_000n - 32_500n);
  });

  it('Money in the wrong currency is credited, but does not count towards the payment', async () => {
    const before = await available('TRX');
    const { id, address } = await lock();
    await shop.send(address, 100, { currency: 'TRX' });
    await shop.mine(2);
    expect(await verify(id)).toMatchObject({ state: 'awaiting_funds', amountReceived: 0, amountSeen: 0 });
    expect((await available('TRX')) - before).toBe(99_000_000n);
    await shop.advance(1801);
    expect(await verify(id)).toMatchObject({ status: 'error', state: 'invalid' });
  });

  it('Funds on another network of the same family are found, but do not count', async () => {
    const { id, address } = await lock('USDC', 'base');
    await shop.send(address, due, { currency: 'USDC', network: 'polygon' });
    await shop.mine(2, 'polygon');
    const record = await verify(id);
    expect(record).toMatchObject({ state: 'awaiting_funds', amountReceived: 0 });
    expect(events(record).some((event) => event.includes('USDC on polygon'))).toBe(true);
  });

  it('A payment falls back when its unconfirmed transfer is dropped, and succeeds when it is sent again', async () => {
    const { id, address } = await lock();
    await shop.send(address, due);
    await shop.mine(1);
    await shop.sandbox('reorgs', { network: 'tron', depth: 1, keep: true });
    expect(await verify(id)).toMatchObject({ state: 'confirming', confirmations: 0 });
    await shop.mine(1);
    await shop.sandbox('reorgs', { network: 'tron', depth: 1 });
    const dropped = await verify(id);
    expect(dropped).toMatchObject({ state: 'awaiting_funds', amountSeen: 0, amountDue: due });
    expect(events(dropped).at(-1)).toContain('Dropped from the network');
    await shop.pay(address, due);
    expect(await verify(id)).toMatchObject({ status: 'success', amountReceived: due });
  });

  it('A settled payment is an error once its receipt is lost, and a success once it is confirmed again', async () => {
    const before = await available('USDT');
    const { id, address } = await lock();
    await shop.pay(address, due);
    expect((await verify(id)).status).toBe('success');
    await shop.sandbox('reorgs', { network: 'tron', depth: 2, keep: true });
    expect(await verify(id)).toMatchObject({ status: 'error', state: 'reversed', amountReceived: 0 });
    expect(await available('USDT')).toBe(before);
    await shop.mine(2);
    expect(await verify(id)).toMatchObject({ status: 'success', state: 'settled', amountReceived: due });
    expect((await available('USDT')) - before).toBe(3_250_000n - 32_500n);
  });

  it('A choice is checked for its currency first, then that the payment exists, then its state', async () => {
    const { id } = await lock();
    const path = (payment: string, rest: string) => `/v1/payments/checkout/${payment}/${rest}`;
    const rows = [
      [path('01J00000000000000000000000', 'currency/set/XXX/tron'), 400, 'unsupported_currency'],
      [path('01J00000000000000000000000', 'currency/set/USDT/tron'), 404, 'not_found'],
      [path(id, 'currency/set/USDT/bitcoin'), 400, 'unsupported_currency'],
      [path(id, 'currency/set/BTC/bitcoin'), 409, 'currency_locked'],
    ] as const;
    for (const [target, status, code] of rows) {
      const reply = await server.api('PATCH', target, { key: server.publicKey });
      expect([reply.status, reply.body.data.code], target).toEqual([status, code]);
    }
    const { data } = await checkout.create(price);
    const reply = await server.api('PATCH', path(data.payment.id, 'currency/lock'), {
      key: server.publicKey,
    });
    expect([reply.status, reply.body.data.code]).toEqual([409, 'currency_not_set']);
  });

  it('An option whose minimum is above the amount is rejected', async () => {
    const { data } = await checkout.create({ amount: 0.02, baseCurrency: 'USD' });
    const path = (option: string) => `/v1/payments/${data.payment.id}/currency/set/${option}`;
    const reply = await server.api('PATCH', path('BTC/bitcoin'), { key: server.publicKey });
    expect([reply.status, reply.body.data.code]).toEqual([400, 'amount_below_minimum']);
    expect((await server.api('PATCH', path('USDT/tron'), { key: server.publicKey })).status).toBe(200);
  });

  it('A payment that is too small for every currency is not created, and the error names the least amount', async () => {
    const inNaira = (amount: string) => shop.checkout({ amount, baseCurrency: 'NGN', key: server.publicKey });
    const { status, body } = await inNaira('1');
    expect([status, body.data.code, body.data.param]).toEqual([400, 'validation_error', 'amount']);
    const [, least = '', code = ''] = /Must be at least (\S+) ([A-Z]+): /.exec(body.message) ?? [];
    expect(code).toBe('NGN');
    const smaller = (Math.round(Number(least) * 100) - 1) / 100;
    expect((await inNaira(String(smaller))).status).toBe(400);
    const created = await inNaira(least);
    expect(created.status).toBe(200);
    expect((created.body.data['payment'] as Payment).currencyOptions?.length).toBeGreaterThan(0);
  });

  it.each([
    [{ amount: 0 }, 'amount'],
    [{ amount: -1 }, 'amount'],
    [{ amount: '1.234' }, 'amount'],
    [{ amount: 'NaN' }, 'amount'],
    [{ amount: 1e21 }, 'amount'],
    [{ baseCurrency: '' }, 'baseCurrency'],
    [{ txRef: 'with space' }, 'txRef'],
    [{ txRef: 'x'.repeat(101) }, 'txRef'],
    [{ customer: { email: 'nobody' } }, 'customer.email'],
    [{ redirectUrl: 'http://shop.example/' }, 'redirectUrl'],
    [{ redirectUrl: 'javascript:alert(1)' }, 'redirectUrl'],
    [{ redirectUrl: 'https://user:secret@shop.example/' }, 'redirectUrl'],
    [{ redirectUrl: '/thanks' }, 'redirectUrl'],
  ])('A payment is not created from %j', async (change, param) => {
    const reply = await server.api('POST', '/v1/payments/checkout', {
      key: server.publicKey,
      body: { ...price, ...change },
    });
    expect([reply.status, reply.body.data.code, reply.body.data.param]).toEqual([
      400,
      'validation_error',
      param,
    ]);
  });

  it.each([
    ['txRef', 'validation_error', { txRef: `sub_${'0'.repeat(26)}_1`, baseCurrency: 'QQQ' }],
    ['baseCurrency', 'unsupported_currency', { baseCurrency: 'QQQ', amount: '1.234' }],
    ['amount', 'validation_error', { amount: '1.234', redirectUrl: '/thanks' }],
  ])('The first of several errors is reported: %s, %s', async (param, code, change) => {
    const reply = await server.api('POST', '/v1/payments/checkout', {
      key: server.publicKey,
      body: { ...price, ...change },
    });
    expect([reply.status, reply.body.data.code, reply.body.data.param]).toEqual([400, code, param]);
  });

  it('An order with errors is refused with chain_unavailable first if its shop has no network', async () => {
    const key = await server.foreignKey('secret', 'live');
    const body = { amount: '1.234', baseCurrency: 'QQQ' };
    const reply = await server.api('POST', '/v1/payments/checkout', { key, body });
    expect([reply.status, reply.body.data.code]).toEqual([503, 'chain_unavailable']);
  });

  it.each([
    { redirectUrl: 'https://shop.example/thanks?order=42' },
    { redirectUrl: 'http://localhost:3000/thanks' },
    { redirectUrl: '' },
    { amount: '5000' },
    { amount: 0.01, baseCurrency: 'usd' },
    { surplus: true },
  ])('A payment is created from %j', async (change) => {
    const reply = await server.api('POST', '/v1/payments/checkout', {
      key: server.publicKey,
      body: { ...price, ...change },
    });
    expect(reply.status).toBe(200);
  });

  it('A reference is unique: of concurrent requests with the same one, all but one are rejected', async () => {
    const body = { ...price, txRef: `order-${randomBytes(8).toString('hex')}` };
    const replies = await Promise.all(
      Array.from({ length: 10 }, () =>
        server.api('POST', '/v1/payments/checkout', { key: server.publicKey, body }),
      ),
    );
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
    const loser = replies.find((reply) => reply.status === 409);
    expect(loser?.body.data).toMatchObject({ code: 'duplicate_tx_ref', param: 'txRef' });
    expect(loser?.body.data).not.toHaveProperty('paymentId');
  });

  it('A duplicate reference names the payment to the merchant’s server, also for concurrent requests', async () => {
    for (let round = 0; round < 5; round += 1) {
      const body = { ...price, txRef: `order-${randomBytes(8).toString('hex')}` };
      const replies = await Promise.all(
        Array.from({ length: 6 }, () =>
          server.api('POST', '/v1/payments/checkout', { key: server.secretKey, body }),
        ),
      );
      const [winner] = replies.filter(({ status }) => status === 200);
      const { id } = winner?.body.data['payment'] as { id: string };
      const losers = replies.filter(({ status }) => status === 409);
      expect(losers.map((reply) => reply.body.data['paymentId'])).toEqual(Array<string>(5).fill(id));
    }
  });

  it('References reserved for subscription payments are rejected', async () => {
    const txRef = `sub_${'0'.repeat(26)}_1`;
    const refused = await server.api('POST', '/v1/payments/checkout', { body: { ...price, txRef } });
    expect([refused.status, refused.body.data]).toMatchObject([
      400,
      { code: 'validation_error', param: 'txRef' },
    ]);
    const other = { ...price, txRef: 'sub_42_1' };
    expect((await server.api('POST', '/v1/payments/checkout', { body: other })).status).toBe(200);
  });

  it('Payments are listed newest first, in pages', async () => {
    const all = (await merchant.transactions.list({ query: { skip: 100 } })).data;
    const page = await server.api('GET', '/v1/transactions?page=2&skip=3', { key: server.secretKey });
    expect(page.status).toBe(200);
    expect((page.body.data as unknown as Payment[]).map(({ id }) => id)).toEqual(
      all.slice(3, 6).map(({ id }) => id),
    );
    expect(page.body.meta).toEqual({ pagination: { total: all.length, count: 3, from: 4, to: 6 } });
    const times = all.map((payment) => payment.createdAt);
    expect(times).toEqual([...times].sort().reverse());
    const past = await server.api('GET', '/v1/transactions?page=999', { key: server.secretKey });
    expect(past.body.data).toEqual([]);
    expect(past.body.meta).toEqual({ pagination: { total: all.length, count: 0, from: 0, to: 0 } });
  });
});
