/** Failures and attacks: a lost webhook is made up for, a repeated one counts once, and a forged one for nothing. */
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { Stage } from './stage.js';
import { fillCart, notesIn } from './vendure.js';

export function testFailures(stage: Stage): void {
  const newCart = () => fillCart(stage.shop.url, stage.variantId);
  const orderOf = (code: string) => stage.admin.order(code);
  const settled = (code: string) =>
    expect.poll(async () => (await orderOf(code)).state).toBe('PaymentSettled');

  /** Sends a webhook as the server would, signed with any secret. */
  async function post(methodCode: string, secret: string, event: { type: string; data: object }) {
    const id = randomUUID();
    const sentAt = new Date();
    const body = JSON.stringify({ timestamp: sentAt.toISOString(), ...event });
    const response = await fetch(`${stage.shop.url}/crypto-checkout/webhooks/${methodCode}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign(id, sentAt, body),
      },
      body,
    });
    return response.status;
  }

  /** The event that would settle an order, if it were enough. */
  async function successOf(paymentId: string) {
    const { data } = await stage.keys.client.transactions.verify({ params: { transaction_id: paymentId } });
    return {
      type: 'payment.success',
      data: { ...data, status: 'success', state: 'settled', mode: 'test', sequence: 1 },
    };
  }

  test('a lost webhook is made up for by the scheduled task', async () => {
    const customer = await newCart();
    const { paymentId, orderCode } = await customer.pay('crypto-quiet');
    await stage.quiet.payer.pay(paymentId);
    await stage.quiet.payer.reach(paymentId, 'settled');
    expect((await orderOf(orderCode)).payments).toEqual([]);
    await stage.admin.askAgain();
    expect(await orderOf(orderCode)).toMatchObject({ state: 'PaymentSettled', payments: [{ amount: 2450 }] });
    await stage.admin.askAgain();
    expect((await orderOf(orderCode)).payments).toHaveLength(1);
  });

  test('a storefront has the payment checked at once, and sees the order settled', async () => {
    const customer = await newCart();
    const { paymentId, orderCode } = await customer.pay('crypto-quiet');
    expect(await customer.check(paymentId)).toMatchObject({ status: 'open' });
    await stage.quiet.payer.pay(paymentId);
    await stage.quiet.payer.reach(paymentId, 'settled');
    const checks = await Promise.all([1, 2, 3].map(() => customer.check(paymentId)));
    expect(checks.map(({ orderState }) => orderState)).toEqual(Array(3).fill('PaymentSettled'));
    expect((await orderOf(orderCode)).payments).toHaveLength(1);
  });

  test('the webhook, sent again and again, settles the order once', async () => {
    const { paymentId, orderCode } = await (await newCart()).pay('crypto');
    await stage.payer.pay(paymentId);
    await settled(orderCode);
    const event = await successOf(paymentId);
    const answers = await Promise.all([1, 2, 3].map(() => post('crypto', stage.keys.webhookSecret, event)));
    expect(answers).toEqual([204, 204, 204]);
    expect(await orderOf(orderCode)).toMatchObject({ state: 'PaymentSettled', payments: [{ amount: 2450 }] });
  });

  test('a signed event is not enough: an order is settled only if the API says that it is paid', async () => {
    const { paymentId, orderCode } = await (await newCart()).pay('crypto');
    expect(await post('crypto', stage.keys.webhookSecret, await successOf(paymentId))).toBe(204);
    expect(await orderOf(orderCode)).toMatchObject({ state: 'AddingItems', payments: [] });
  });

  test('a forged webhook, one with another secret, and one for an unknown method are refused', async () => {
    const { paymentId, orderCode } = await (await newCart()).pay('crypto-quiet');
    await stage.quiet.payer.pay(paymentId);
    await stage.quiet.payer.reach(paymentId, 'settled');
    const { data } = await stage.quiet.keys.client.transactions.verify({
      params: { transaction_id: paymentId },
    });
    const event = { type: 'payment.success', data: { ...data, mode: 'test', sequence: 1 } };
    const unsigned = await fetch(`${stage.shop.url}/crypto-checkout/webhooks/crypto-quiet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
    });
    expect(unsigned.status).toBe(400);
    expect(await post('crypto-quiet', `whsec_${Buffer.alloc(32).toString('base64')}`, event)).toBe(400);
    expect(await post('crypto-quiet', stage.keys.webhookSecret, event)).toBe(400);
    expect(await post('no-such-method', stage.keys.webhookSecret, event)).toBe(404);
    expect((await orderOf(orderCode)).payments).toEqual([]);
  });

  test('the key of another channel settles nothing, at its own URL either', async () => {
    const customer = await newCart();
    const { paymentId, orderCode } = await customer.pay('crypto-quiet');
    await stage.quiet.payer.pay(paymentId);
    await stage.quiet.payer.reach(paymentId, 'settled');
    const { data } = await stage.quiet.keys.client.transactions.verify({
      params: { transaction_id: paymentId },
    });
    const event = { type: 'payment.success', data: { ...data, mode: 'test', sequence: 1 } };
    const { webhookSecret } = stage.euro.keys;
    expect(await post('crypto', webhookSecret, event)).toBe(400);
    expect(await post('crypto-euro', webhookSecret, event)).toBe(204);
    expect((await orderOf(orderCode)).payments).toEqual([]);
    const stranger = await fillCart(stage.shop.url, stage.variantId, { channelToken: 'eu-token' });
    await expect(stranger.check(paymentId)).rejects.toThrow('This channel has no such payment');
    await expect(stranger.pay('crypto-quiet')).rejects.toThrow('has no such crypto-checkout payment method');
  });

  test('a storefront cannot add a payment of its own', async () => {
    const customer = await newCart();
    const { paymentId, orderCode } = await customer.pay('crypto');
    await customer.query(
      `mutation { transitionOrderToState(state: "ArrangingPayment") { __typename } }`,
      z.looseObject({}),
    );
    const { addPaymentToOrder } = await customer.query(
      `mutation ($input: PaymentInput!) { addPaymentToOrder(input: $input) { __typename ... on PaymentDeclinedError { paymentErrorMessage } } }`,
      z.object({
        addPaymentToOrder: z.object({ __typename: z.string(), paymentErrorMessage: z.optional(z.string()) }),
      }),
      { input: { method: 'crypto', metadata: { checkoutId: paymentId, amount: 2450, metadata: {} } } },
    );
    expect(addPaymentToOrder.__typename).toBe('PaymentDeclinedError');
    expect(addPaymentToOrder.paymentErrorMessage).toContain('createCryptoPayment');
    expect(await orderOf(orderCode)).toMatchObject({
      state: 'ArrangingPayment',
      payments: [{ state: 'Declined' }],
    });
    // The order is not stuck: it can be paid.
    await stage.payer.pay((await customer.pay('crypto')).paymentId);
    await settled(orderCode);
  });

  test('a wrong secret key is the shop’s business: the storefront hears that it is not available', async () => {
    const { publicKey, webhookSecret } = stage.keys;
    const wrong = `sk_test_${'x'.repeat(43)}`;
    await stage.admin.addMethod({
      code: 'crypto-wrong',
      apiUrl: stage.checkout.url,
      publicKey,
      secretKey: wrong,
      webhookSecret,
    });
    const customer = await newCart();
    await expect(customer.pay('crypto-wrong')).rejects.toThrow(/^Crypto payments are not available now$/);
    expect(stage.shop.log()).not.toContain(wrong);
    // The order can be paid by the other method.
    expect(await customer.pay('crypto')).toMatchObject({ status: 'open' });
  });

  test('a storefront can read no secret', async () => {
    const customer = await newCart();
    const { paymentId, orderCode } = await customer.pay('crypto');
    await stage.payer.pay(paymentId);
    await settled(orderCode);
    const seen = await customer.query(
      `{ orderByCode(code: "${orderCode}") { payments { method transactionId metadata } history { items { data } } }
       activePaymentMethods { code name description }
       __schema { types { name fields { name } } } }`,
      z.looseObject({}),
    );
    const text = JSON.stringify([seen, await customer.check(paymentId)]);
    expect(text).toContain(stage.keys.publicKey);
    for (const { secretKey, webhookSecret } of [stage.keys, stage.quiet.keys, stage.euro.keys]) {
      expect(text).not.toContain(secretKey);
      expect(text).not.toContain(webhookSecret);
    }
    expect(text).not.toContain('refundCryptoExcess');
  });

  test('a shop that was killed while its customer paid settles the order when it is back', async () => {
    const { paymentId, orderCode } = await (await newCart()).pay('crypto');
    await stage.shop.restart(async () => {
      await stage.payer.pay(paymentId);
      await stage.payer.reach(paymentId, 'settled');
    });
    await stage.signIn();
    // The server sends the event again after five seconds, and the task asks: both count once.
    await Promise.all([stage.admin.askAgain(), settled(orderCode)]);
    expect((await orderOf(orderCode)).payments).toHaveLength(1);
  });

  test('a checkout server that was killed in the middle loses nothing', async () => {
    const customer = await newCart();
    const { paymentId, orderCode } = await customer.pay('crypto');
    await stage.payer.send(await stage.payer.lock(paymentId));
    await stage.checkout.restart(async () => {
      // Meanwhile the shop answers, and settles nothing.
      await expect(customer.check(paymentId)).rejects.toThrow();
      await stage.admin.askAgain();
      expect((await orderOf(orderCode)).payments).toEqual([]);
    });
    await settled(orderCode);
    expect(notesIn(await orderOf(orderCode))).toEqual([]);
  });
}
