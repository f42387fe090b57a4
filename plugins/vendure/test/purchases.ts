/** Whole purchases: what is paid, how, and what the order and its history say of it. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { Stage } from './stage.js';
import { fillCart, notesIn } from './vendure.js';

export function testPurchases(stage: Stage): void {
  const newCart = () => fillCart(stage.shop.url, stage.variantId);

  /** Waits until the webhooks have done it. */
  const settled = (code: string) =>
    expect.poll(async () => (await stage.admin.order(code)).state).toBe('PaymentSettled');
  const noted = (code: string, words: RegExp) =>
    expect.poll(async () => notesIn(await stage.admin.order(code)).join('\n')).toMatch(words);
  /** The block of the order's page in the dashboard. */
  const shown = async (code: string) => stage.admin.shown((await stage.admin.order(code)).id);

  test('an exact payment settles its order by the webhook, and links it to the console', async () => {
    const customer = await newCart();
    const { paymentId, amount, currencyCode, orderCode, status } = await customer.pay('crypto');
    expect({ amount, currencyCode, status }).toEqual({ amount: 2450, currencyCode: 'USD', status: 'open' });
    // Nothing is there yet: no payment, and the cart can still change.
    expect(await stage.admin.order(orderCode)).toMatchObject({ state: 'AddingItems', payments: [] });
    await stage.payer.pay(paymentId);
    await settled(orderCode);
    const order = await stage.admin.order(orderCode);
    expect(order.payments).toMatchObject([
      { state: 'Settled', amount: 2450, method: 'crypto', transactionId: paymentId },
    ]);
    expect(order.payments[0]?.metadata).toMatchObject({
      console: `${stage.checkout.url}/console/test/payments/${paymentId}`,
      testMoney: true,
    });
    expect(await shown(orderCode)).toEqual([
      {
        payment: '[test money] Paid with 24.5 USDT.',
        refunds: '',
        console: `${stage.checkout.url}/console/test/payments/${paymentId}`,
      },
    ]);
    // Neither the staff of another channel nor a customer reads it.
    expect(await stage.euro.admin.shown(order.id)).toEqual([]);
    await expect(
      customer.query(`{ cryptoPayments(orderId: "${order.id}") { payment } }`, z.object({})),
    ).rejects.toThrow('Cannot query field "cryptoPayments"');
    await expect(customer.pay('crypto')).rejects.toThrow('There is no active order');
  });

  test('a part leaves the order open, and the rest settles it', async () => {
    const { paymentId, orderCode } = await (await newCart()).pay('crypto');
    const payment = await stage.payer.lock(paymentId);
    await stage.payer.send(payment, 10);
    await noted(orderCode, /10 USDT of 24\.5 USDT was sent/);
    expect((await stage.admin.order(orderCode)).payments).toEqual([]);
    expect(await shown(orderCode)).toMatchObject([{ payment: '[test money] A part came: 10 of 24.5 USDT.' }]);
    await stage.payer.send(payment, 14.5);
    await settled(orderCode);
  });

  test('an excess is noted, refunded by a link, and noted again when it is paid back', async () => {
    const { paymentId, orderCode } = await (await newCart()).pay('crypto');
    await stage.payer.send(await stage.payer.lock(paymentId), 30);
    await settled(orderCode);
    await noted(orderCode, /30 USDT arrived, more than the 24\.5 USDT due/);
    const [payment] = (await stage.admin.order(orderCode)).payments;
    expect(payment?.amount).toBe(2450);
    const excess = '[test money] Paid with 30 USDT; 24.5 were due. Refund the rest.';
    expect(await shown(orderCode)).toMatchObject([{ payment: excess, refunds: '' }]);
    const { refundCryptoExcess: refund } = await stage.admin.query(
      `mutation { refundCryptoExcess(paymentId: "${payment?.id ?? ''}") { id amount currency claimUrl } }`,
      z.object({
        refundCryptoExcess: z.object({
          id: z.string(),
          amount: z.string(),
          currency: z.string(),
          claimUrl: z.string(),
        }),
      }),
    );
    expect(refund).toMatchObject({ amount: '5.5', currency: 'USDT' });
    await stage.payer.claim(refund.claimUrl, refund.id);
    await noted(orderCode, /the refund of 5\.5 USDT is paid/);
    expect((await stage.admin.order(orderCode)).state).toBe('PaymentSettled');
  });

  // vendurehq/vendure#2732: a refund does not enter the state in which it begins.
  test('a refund is pending until its coins were sent, and the storefront never sees its link', async () => {
    const customer = await newCart();
    const { paymentId, orderCode } = await customer.pay('crypto');
    await stage.payer.pay(paymentId);
    await settled(orderCode);
    const refund = async (amount: number) => {
      const [payment] = (await stage.admin.order(orderCode)).payments;
      const { refundOrder } = await stage.admin.query(
        `mutation ($input: RefundOrderInput!) { refundOrder(input: $input) { ... on Refund { state transactionId }
        ... on ErrorResult { message } } }`,
        z.object({ refundOrder: z.object({ state: z.string(), transactionId: z.string() }) }),
        {
          input: {
            amount,
            paymentId: payment?.id ?? '',
            reason: 'One glass was broken',
            lines: [],
            shipping: 0,
            adjustment: 0,
          },
        },
      );
      return refundOrder;
    };
    const part = await refund(980);
    expect(part.state).toBe('Pending');
    await noted(orderCode, /refund of 9\.702 USDT waits until the payer says where to/);
    const [link = ''] = /http\S+#\S+/.exec(notesIn(await stage.admin.order(orderCode)).join('\n')) ?? [];
    const { orderByCode } = await customer.query(
      `{ orderByCode(code: "${orderCode}") { payments { metadata refunds { state transactionId metadata } }
      history { items { data } } } }`,
      z.object({ orderByCode: z.looseObject({}) }),
    );
    expect(JSON.stringify(orderByCode)).toContain(part.transactionId);
    expect(JSON.stringify(orderByCode)).not.toContain(link.split('#')[1]);
    expect(await shown(orderCode)).toMatchObject([
      { refunds: '9.702 USDT wait for the address of the payer.' },
    ]);
    await stage.payer.claim(link, part.transactionId);
    expect((await shown(orderCode))[0]?.refunds).toMatch(/^9\.702 USDT were paid back with \S+\.$/);
    const states = async () =>
      (await stage.admin.order(orderCode)).payments[0]?.refunds.map(({ state, total }) => [state, total]);
    await expect.poll(states).toEqual([['Settled', 980]]);
    // One that nobody claims, and that the shop cancels, frees its amount in Vendure again.
    const rest = await refund(500);
    expect(rest.state, notesIn(await stage.admin.order(orderCode)).join('\n')).toBe('Pending');
    await stage.keys.client.refunds.cancel({ params: { refund_id: rest.transactionId } });
    await expect.poll(states).toEqual([
      ['Settled', 980],
      ['Failed', 500],
    ]);
  });

  test('money that comes too late is noted, and the order can be paid by another payment', async () => {
    const customer = await newCart();
    const { paymentId, orderCode } = await customer.pay('crypto');
    const payment = await stage.payer.lock(paymentId);
    await stage.payer.advanceClock(3 * 86_400);
    await stage.payer.reach(paymentId, 'expired');
    await noted(orderCode, /nothing arrived in time/);
    await stage.payer.send(payment, 10);
    await noted(orderCode, /10 USDT arrived too late/);
    expect((await stage.admin.order(orderCode)).payments).toEqual([]);
    const next = await customer.pay('crypto');
    expect(next.paymentId).not.toBe(paymentId);
    await stage.payer.pay(next.paymentId);
    await settled(orderCode);
  });

  // vendurehq/vendure#1330, #1635: an order that waits for a payment must not be stuck, nor closed.
  test('a cancelled payment leaves the order as it is, and the next one settles it', async () => {
    const customer = await newCart();
    const { paymentId, orderCode } = await customer.pay('crypto');
    await stage.keys.client.payments.cancel({ params: { payment_id: paymentId } });
    await noted(orderCode, /the payment was cancelled/);
    const next = await customer.pay('crypto');
    expect(next).toMatchObject({ orderCode, amount: 2450, status: 'open' });
    expect(next.paymentId).not.toBe(paymentId);
    await stage.payer.pay(next.paymentId);
    await settled(orderCode);
    expect((await stage.admin.order(orderCode)).payments).toHaveLength(1);
  });

  test('two tabs, and a customer who comes back, get the same payment', async () => {
    const customer = await newCart();
    const [one, two] = await Promise.all([customer.pay('crypto'), customer.pay('crypto')]);
    expect(two.paymentId).toBe(one.paymentId);
    const again = await customer.pay('crypto');
    expect(again.paymentId).toBe(one.paymentId);
    await stage.payer.pay(again.paymentId);
    await settled(again.orderCode);
    expect((await stage.admin.order(again.orderCode)).payments).toHaveLength(1);
  });

  test('a changed cart gets a payment with the new price, and the old one is cancelled', async () => {
    const customer = await newCart();
    const old = await customer.pay('crypto');
    await customer.setQuantity(2);
    const next = await customer.pay('crypto');
    expect(next).toMatchObject({ amount: 4900, orderCode: old.orderCode });
    await stage.payer.reach(old.paymentId, 'cancelled');
    await stage.payer.pay(next.paymentId);
    await settled(old.orderCode);
  });

  test('the old price, paid while the cart changes, counts, and only the difference is asked for', async () => {
    const customer = await newCart();
    const old = await customer.pay('crypto');
    const payment = await stage.payer.lock(old.paymentId);
    await customer.setQuantity(2);
    await stage.payer.send(payment);
    await noted(old.orderCode, /24\.5 USD is paid\. The order has changed since: 24\.5 USD are still due/);
    // Asked about again and again, it counts once.
    await Promise.all([1, 2, 3].map(() => customer.check(old.paymentId)));
    expect(await stage.admin.order(old.orderCode)).toMatchObject({
      state: 'ArrangingPayment',
      payments: [{ state: 'Settled', amount: 2450 }],
    });
    const rest = await customer.pay('crypto');
    expect(rest.amount).toBe(2450);
    await stage.payer.pay(rest.paymentId);
    await settled(old.orderCode);
    const { payments } = await stage.admin.order(old.orderCode);
    expect(payments.map(({ state, amount }) => [state, amount])).toEqual([
      ['Settled', 2450],
      ['Settled', 2450],
    ]);
  });

  test('an order that became cheaper is settled, and the difference is noted', async () => {
    const customer = await newCart();
    await customer.setQuantity(2);
    const old = await customer.pay('crypto');
    const payment = await stage.payer.lock(old.paymentId);
    await customer.setQuantity(1);
    await stage.payer.send(payment);
    await settled(old.orderCode);
    await noted(old.orderCode, /24\.5 USD cheaper than what was paid\. Refund the difference/);
  });

  // vendurehq/vendure#2620: a customer could pay twice.
  test('a second payment of a paid order is noted, and never added', async () => {
    const customer = await newCart();
    const { paymentId, orderCode } = await customer.pay('crypto');
    // As the checkout does in a browser that does not know the first one.
    const { data } = await stage.keys.client.payments.create({
      body: { amount: '24.5', baseCurrency: 'USD', txRef: `${orderCode}:2` },
    });
    await stage.payer.pay(paymentId);
    await settled(orderCode);
    await stage.payer.pay(data.payment.id);
    await noted(
      orderCode,
      /24\.5 USD is paid, and the order does not take it: it is paid already\. Refund it/,
    );
    expect((await stage.admin.order(orderCode)).payments).toHaveLength(1);
    expect(await shown(orderCode)).toMatchObject([
      { payment: `[test money] Paid twice. Refund ${data.payment.id}.` },
      { payment: '[test money] Paid with 24.5 USDT.' },
    ]);
  });

  test('another channel is paid into its own account, in its own currency', async () => {
    const customer = await fillCart(stage.shop.url, stage.variantId, { channelToken: 'eu-token' });
    const made = await customer.pay();
    expect(made).toMatchObject({ currencyCode: 'EUR', publicKey: stage.euro.keys.publicKey });
    const payment = await stage.euro.payer.pay(made.paymentId);
    expect(payment).toMatchObject({ baseCurrency: 'EUR', baseAmount: made.amount / 100 });
    const state = async () => (await stage.euro.admin.order(made.orderCode)).state;
    await expect.poll(state).toBe('PaymentSettled');
  });

  test('a currency that the server does not know is refused in words', async () => {
    const customer = await fillCart(stage.shop.url, stage.variantId, { currencyCode: 'XPF' });
    await expect(customer.pay('crypto')).rejects.toThrow(
      'Crypto payments do not take the currency of this order',
    );
  });

  test('an order that is not ready gets no payment, and the reason', async () => {
    const customer = await newCart();
    await customer.setQuantity(0).catch(() => {});
    await expect(customer.pay('crypto')).rejects.toThrow('The order is empty');
  });
}
