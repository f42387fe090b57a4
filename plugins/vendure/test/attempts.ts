/** Further attempts: the checkout cancels a payment, or it expires, and its payer continues with one that the checkout makes. */
import { createCheckoutClient } from 'crypto-checkout/client';
import { expect, test } from 'vitest';
import type { Stage } from './stage.js';
import { fillCart, notesIn, type CryptoPayment } from './vendure.js';

export function testAttempts(stage: Stage): void {
  const newCart = () => fillCart(stage.shop.url, stage.variantId);
  const orderOf = (code: string) => stage.admin.order(code);
  const notes = async (code: string) => notesIn(await orderOf(code)).join('\n');
  const tagOf = ({ apiUrl, publicKey }: CryptoPayment) => createCheckoutClient({ apiUrl, publicKey });

  /** Makes a payment with the public key, as the tag does and as anybody can. Resolves with its id. */
  async function make(first: CryptoPayment, txRef: string, more: object = {}): Promise<string> {
    const { amount, currencyCode: baseCurrency } = first;
    const body = { amount: String(amount / 100), baseCurrency, txRef, ...more };
    return (await tagOf(first).create(body)).data.payment.id;
  }

  /** "Use another coin". Resolves with the id of the next attempt. */
  async function useAnotherCoin(first: CryptoPayment, txRef: string): Promise<string> {
    await tagOf(first).cancel(first.paymentId);
    return make(first, txRef);
  }

  /** A cart whose payer has used another coin; in the account whose webhooks get lost by default. */
  async function movedOn(methodCode = 'crypto-quiet') {
    const customer = await newCart();
    const first = await customer.pay(methodCode);
    const { orderCode } = first;
    const attempt = await useAnotherCoin(first, `${orderCode}:2`);
    return { customer, first, orderCode, attempt };
  }

  const paymentOf = async (id: string) =>
    (await stage.quiet.keys.client.payments.retrieve({ params: { payment_id: id } })).data;

  const paidOnce = async (code: string, transactionId: string) =>
    expect(await orderOf(code)).toMatchObject({
      state: 'PaymentSettled',
      payments: [{ state: 'Settled', amount: 2450, transactionId }],
    });

  test('a reload continues with the attempt that the payer moved on to, and with the one after that', async () => {
    const { customer, first, orderCode, attempt } = await movedOn();
    const reloads = await Promise.all([1, 2].map(() => customer.pay('crypto-quiet')));
    expect(reloads.map(({ paymentId }) => paymentId)).toEqual([attempt, attempt]);
    expect(reloads[0]).toMatchObject({ amount: 2450, status: 'open', orderCode });
    // The page's own payment is the attempt now, so its reference gets a counter of its own.
    const next = await useAnotherCoin({ ...first, paymentId: attempt }, `${orderCode}:2:2`);
    await stage.quiet.payer.send(await stage.quiet.payer.lock(next), 10);
    expect(await customer.pay('crypto-quiet')).toMatchObject({ paymentId: next, status: 'open' });
    await stage.quiet.payer.send(await paymentOf(next), 14.5);
    await stage.quiet.payer.reach(next, 'settled');
    await stage.admin.askAgain();
    await paidOnce(orderCode, next);
  });

  test('a reload after the success of an attempt shows it, and asks for nothing', async () => {
    const { customer, orderCode, attempt } = await movedOn();
    await stage.quiet.payer.pay(attempt);
    await stage.quiet.payer.reach(attempt, 'settled');
    expect(await customer.pay('crypto-quiet')).toMatchObject({
      paymentId: attempt,
      status: 'settled',
      orderState: 'PaymentSettled',
    });
    await paidOnce(orderCode, attempt);
  });

  test('a storefront has an attempt checked before its webhook, and the order is settled once', async () => {
    const { customer, orderCode, attempt } = await movedOn();
    await expect(customer.check(attempt)).rejects.toThrow('This channel has no such payment');
    await stage.quiet.payer.pay(attempt);
    await stage.quiet.payer.reach(attempt, 'settled');
    const stranger = await fillCart(stage.shop.url, stage.variantId, { channelToken: 'eu-token' });
    await expect(stranger.check(attempt)).rejects.toThrow('This channel has no such payment');
    expect((await orderOf(orderCode)).payments).toEqual([]);
    const checks = await Promise.all([1, 2, 3].map(() => customer.check(attempt)));
    expect(checks.map(({ orderState }) => orderState)).toEqual(Array(3).fill('PaymentSettled'));
    await paidOnce(orderCode, attempt);
    await expect(customer.check('01J9ZQ4W3V8K2M6N7P5R0S1T2X')).rejects.toThrow('has no such payment');
  });

  test('the webhook of an attempt, two tabs and the task at the same time count it once', async () => {
    const { customer, orderCode, attempt } = await movedOn('crypto');
    await stage.payer.pay(attempt);
    await stage.payer.reach(attempt, 'settled');
    // One of them is first, and there may be no active order for the others.
    await Promise.allSettled([
      customer.pay('crypto'),
      customer.pay('crypto'),
      customer.check(attempt),
      stage.keys.client.transactions.resendWebhook({ params: { transaction_id: attempt } }),
      stage.admin.askAgain(),
    ]);
    await expect.poll(async () => (await orderOf(orderCode)).state).toBe('PaymentSettled');
    await paidOnce(orderCode, attempt);
  });

  test('the task finds an attempt whose webhook is lost', async () => {
    const { orderCode, attempt } = await movedOn();
    await stage.quiet.payer.pay(attempt);
    await stage.quiet.payer.reach(attempt, 'settled');
    await stage.admin.askAgain();
    await paidOnce(orderCode, attempt);
    await stage.admin.askAgain();
    expect((await orderOf(orderCode)).payments).toHaveLength(1);
  });

  test('an attempt that stays short is noted like any payment, by its webhook', async () => {
    const { orderCode, attempt } = await movedOn('crypto');
    const payment = await stage.payer.lock(attempt);
    await stage.payer.send(payment, 10);
    await expect.poll(() => notes(orderCode)).toMatch(/10 USDT of 24\.5 USDT was sent/);
    const received = async () =>
      (await stage.keys.client.transactions.verify({ params: { transaction_id: attempt } })).data
        .amountReceived;
    await expect.poll(received).toBe(10);
    await stage.payer.advanceClock(3 * 86_400);
    await stage.payer.reach(attempt, 'expired_partial');
    await expect.poll(() => notes(orderCode)).toMatch(/only 10 USDT of 24\.5 USDT arrived/);
    expect((await orderOf(orderCode)).payments).toEqual([]);
  });

  test('the task notes money that came too late to an attempt', async () => {
    const { first, orderCode, attempt } = await movedOn();
    const payment = await stage.quiet.payer.lock(attempt);
    await tagOf(first).cancel(attempt);
    await stage.quiet.payer.send(payment, 10);
    const credited = async () =>
      (await stage.quiet.keys.client.transactions.verify({ params: { transaction_id: attempt } })).data
        .credited;
    await expect.poll(credited).toMatchObject([{ amount: 10 }]);
    await stage.admin.askAgain();
    expect(await notes(orderCode)).toMatch(/10 USDT arrived after the payment was cancelled/);
    expect((await orderOf(orderCode)).payments).toEqual([]);
  });

  test('an attempt with another price or currency, or of another order, is never continued, and pays nothing', async () => {
    const customer = await newCart();
    const first = await customer.pay('crypto-quiet');
    const { orderCode } = first;
    await tagOf(first).cancel(first.paymentId);
    const [cheap, foreign] = [
      await make(first, `${orderCode}:2`, { amount: '0.5' }),
      await make(first, `${orderCode}:3`, { baseCurrency: 'EUR' }),
    ];
    const others = [
      await make(first, `${orderCode}:4x`),
      await make(first, `${orderCode}5:2`),
      await make(first, `${orderCode.toLowerCase()}:2`),
      // Somebody else would get its refunds.
      await make(first, `${orderCode}:4`, { customer: { email: 'mallory@example.com' } }),
      await make(first, `${orderCode}:5`, { redirectUrl: 'https://phishing.example/' }),
    ];
    for (const id of [cheap, foreign, others[0] ?? '', others[1] ?? '', others[2] ?? '']) {
      await stage.quiet.payer.pay(id);
      await stage.quiet.payer.reach(id, 'settled');
    }
    await stage.admin.askAgain();
    const next = await customer.pay('crypto-quiet');
    expect([first.paymentId, cheap, foreign, ...others]).not.toContain(next.paymentId);
    for (const id of [cheap, foreign]) {
      expect(await customer.check(id)).toMatchObject({ orderState: 'AddingItems' });
    }
    for (const id of others) await expect(customer.check(id)).rejects.toThrow('no such payment');
    expect((await orderOf(orderCode)).payments).toEqual([]);
    expect(await notes(orderCode)).toMatch(
      /does not pay for this order\. The price is 0\.5 USD, not 24\.5 USD/,
    );
    // The order can be paid, by the payment that it has.
    await stage.quiet.payer.pay(next.paymentId);
    await stage.quiet.payer.reach(next.paymentId, 'settled');
    await customer.check(next.paymentId);
    await paidOnce(orderCode, next.paymentId);
  });

  test('while the own payment is open, nobody else’s attempt takes its place', async () => {
    const customer = await newCart();
    const first = await customer.pay('crypto-quiet');
    const stranger = await make(first, `${first.orderCode}:2`);
    await stage.quiet.payer.send(await stage.quiet.payer.lock(stranger), 1);
    const seen = async () => (await paymentOf(stranger)).amountSeen;
    await expect.poll(seen).toBe(1);
    await expect(customer.check(stranger)).rejects.toThrow('no such payment');
    await stage.admin.askAgain();
    expect((await customer.pay('crypto-quiet')).paymentId).toBe(first.paymentId);
  });

  test('an attempt at a price that the cart no longer has is left, and a new payment is made', async () => {
    const { customer, orderCode, attempt } = await movedOn();
    await customer.setQuantity(2);
    const next = await customer.pay('crypto-quiet');
    expect(next).toMatchObject({ amount: 4900, orderCode, status: 'open' });
    expect(next.paymentId).not.toBe(attempt);
  });
}
