/** Facts that become known of an order's payment after the customer has left: by the network, by the shop's staff, and in its stock. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { Stage } from './stage.js';
import { fillCart, notesIn } from './vendure.js';

const anything = z.record(z.string(), z.unknown());

export function testLateEvents(stage: Stage): void {
  const newCart = () => fillCart(stage.shop.url, stage.variantId);
  const orderOf = (code: string) => stage.admin.order(code);
  const settled = (code: string) =>
    expect.poll(async () => (await orderOf(code)).state).toBe('PaymentSettled');
  const noted = (code: string, words: RegExp) =>
    expect.poll(async () => notesIn(await orderOf(code)).join('\n')).toMatch(words);

  test('a transfer that the network removed after the success is noted, and the order keeps its state', async () => {
    const { paymentId, orderCode } = await (await newCart()).pay('crypto');
    const payment = await stage.payer.pay(paymentId);
    await settled(orderCode);
    await stage.payer.reorganize(payment);
    await stage.payer.reach(paymentId, 'reversed');
    await noted(orderCode, /the network removed the transfer of this payment\. Do not deliver the order/);
    const { id, state, payments } = await orderOf(orderCode);
    expect({ state, payments: payments.length }).toEqual({ state: 'PaymentSettled', payments: 1 });
    expect(await stage.admin.shown(id)).toMatchObject([
      { payment: '[test money] The network removed the transfer. Do not deliver the order.' },
    ]);
    // The customer pays again, to the same address: the order is not paid twice.
    await stage.payer.send(payment);
    await stage.payer.reach(paymentId, 'settled');
    await noted(orderCode, /the payment is complete again/);
    expect((await orderOf(orderCode)).payments).toHaveLength(1);
  });

  test('a short payment that the shop accepts settles the order, and its history names the sum', async () => {
    const { paymentId, orderCode } = await (await newCart()).pay('crypto');
    const payment = await stage.payer.lock(paymentId);
    await stage.payer.send(payment, 20);
    await noted(orderCode, /20 USDT of 24\.5 USDT was sent/);
    // Money that is not in a block by then would be late.
    const received = async () =>
      (await stage.keys.client.transactions.verify({ params: { transaction_id: paymentId } })).data
        .amountReceived;
    await expect.poll(received).toBe(20);
    await stage.payer.advanceClock(3 * 86_400);
    await stage.payer.reach(paymentId, 'expired_partial');
    await noted(orderCode, /only 20 USDT of 24\.5 USDT arrived/);
    expect((await orderOf(orderCode)).payments).toEqual([]);
    await stage.keys.client.transactions.accept({
      params: { transaction_id: paymentId },
      body: { amount: '20', note: 'A regular customer' },
    });
    await settled(orderCode);
    await noted(orderCode, /20 USDT was accepted instead of 24\.5 USDT/);
    const [added] = (await orderOf(orderCode)).payments;
    expect(added).toMatchObject({ state: 'Settled', amount: 2450, metadata: { paid: '20 USDT' } });
  });

  test('a full payment that comes too late settles its order at once, and the history says so', async () => {
    const { paymentId, orderCode } = await (await newCart()).pay('crypto');
    const payment = await stage.payer.lock(paymentId);
    await stage.payer.advanceClock(3 * 86_400);
    await stage.payer.reach(paymentId, 'expired');
    await stage.payer.send(payment);
    await settled(orderCode);
    await noted(orderCode, /paid after its time was up, and was accepted/);
    expect(await stage.admin.shown((await orderOf(orderCode)).id)).toMatchObject([
      { payment: '[test money] Paid with 24.5 USDT, after the time to pay.' },
    ]);
  });

  test('an order whose goods are gone while it is paid stays open, and is settled once they are back', async () => {
    const setStock = (changes: object) =>
      stage.admin.query(
        `mutation ($input: [UpdateProductVariantInput!]!) { updateProductVariants(input: $input) { id } }`,
        anything,
        { input: [{ id: stage.variantId, ...changes }] },
      );
    const { paymentId, orderCode } = await (await newCart()).pay('crypto');
    const payment = await stage.payer.lock(paymentId);
    await setStock({ stockOnHand: 0, trackInventory: 'TRUE' });
    try {
      await stage.payer.send(payment);
      await noted(orderCode, /24\.5 USD is paid, and the order does not take it: .*It is tried again/);
      const { state, payments } = await orderOf(orderCode);
      expect({ state, payments }).toEqual({ state: 'AddingItems', payments: [] });
    } finally {
      await setStock({ stockOnHand: 1000 });
    }
    await stage.admin.askAgain();
    expect(await orderOf(orderCode)).toMatchObject({
      state: 'PaymentSettled',
      payments: [{ state: 'Settled', amount: 2450 }],
    });
    expect(
      notesIn(await orderOf(orderCode)).filter((note) => note.includes('does not take it')),
    ).toHaveLength(1);
  });

  /** Sends the goods of an order, one of each line. Resolves with a function that moves them on. */
  const fulfill = async (code: string, ...states: readonly string[]) => {
    const { orders } = await stage.admin.query(
      `query ($code: String!) { orders(options: { filter: { code: { eq: $code } } }) { items { id lines { id } } } }`,
      z.object({
        orders: z.object({
          items: z.tuple([z.object({ id: z.string(), lines: z.array(z.object({ id: z.string() })) })]),
        }),
      }),
      { code },
    );
    const [{ lines }] = orders.items;
    const { made } = await stage.admin.query(
      `mutation ($input: FulfillOrderInput!) { made: addFulfillmentToOrder(input: $input) { ... on Fulfillment { id } } }`,
      z.object({ made: z.object({ id: z.string() }) }),
      {
        input: {
          lines: lines.map(({ id }) => ({ orderLineId: id, quantity: 1 })),
          handler: {
            code: 'manual-fulfillment',
            arguments: [
              { name: 'method', value: 'Post' },
              { name: 'trackingCode', value: '1' },
            ],
          },
        },
      },
    );
    const advance = (state: string) =>
      stage.admin.query(
        `mutation { transitionFulfillmentToState(id: "${made.id}", state: "${state}") { ... on Fulfillment { id } } }`,
        z.object({ transitionFulfillmentToState: z.object({ id: z.string() }) }),
      );
    for (const state of states) await advance(state);
    return advance;
  };

  // vendurehq/vendure#2657: a webhook for a delivered order failed, and was repeated forever.
  test('a webhook of a delivered order is answered, and a second payment of it is only noted', async () => {
    const { paymentId, orderCode } = await (await newCart()).pay('crypto');
    const second = await stage.keys.client.payments.create({
      body: { amount: '24.5', baseCurrency: 'USD', txRef: `${orderCode}:2` },
    });
    await stage.payer.pay(paymentId);
    await settled(orderCode);
    await fulfill(orderCode, 'Shipped', 'Delivered');
    expect((await orderOf(orderCode)).state).toBe('Delivered');
    await stage.keys.client.transactions.resendWebhook({ params: { transaction_id: paymentId } });
    await stage.payer.pay(second.data.payment.id);
    await noted(orderCode, /the order does not take it: it is paid already\. Refund it/);
    const { state, payments } = await orderOf(orderCode);
    expect({ state, payments: payments.length }).toEqual({ state: 'Delivered', payments: 1 });
    expect(stage.shop.log()).not.toContain('OrderPaymentStateError');
  });

  const move = (id: string, state: string) =>
    stage.admin.query(
      `mutation { moved: transitionOrderToState(id: "${id}", state: "${state}") { ... on Order { id } } }`,
      z.object({ moved: z.object({ id: z.string() }) }),
    );

  /** Modifies an order, so that more is due, and leaves it ready for that. */
  const makeDearer = async (id: string, changes: object) => {
    await move(id, 'Modifying');
    await stage.admin.query(
      `mutation ($input: ModifyOrderInput!) { modifyOrder(input: $input) { ... on Order { id } } }`,
      z.object({ modifyOrder: z.object({ id: z.string() }) }),
      { input: { orderId: id, dryRun: false, note: 'As you asked', ...changes } },
    );
    await move(id, 'ArrangingAdditionalPayment');
  };

  const askForRest = async (id: string) => {
    const { requestCryptoPayment } = await stage.admin.query(
      `mutation { requestCryptoPayment(orderId: "${id}", methodCode: "crypto") { paymentId url amount currencyCode } }`,
      z.object({
        requestCryptoPayment: z.object({ paymentId: z.string(), url: z.string(), amount: z.number() }),
      }),
    );
    return requestCryptoPayment;
  };

  const paidOrder = async () => {
    const customer = await newCart();
    const { paymentId, orderCode } = await customer.pay('crypto');
    await stage.payer.pay(paymentId);
    await settled(orderCode);
    return { customer, paymentId, orderCode, id: (await orderOf(orderCode)).id };
  };

  const oneMore = () => ({ addItems: [{ productVariantId: stage.variantId, quantity: 1 }] });

  // vendurehq/vendure#3823: a paid order that the staff has made dearer could not be paid by a webhook.
  test('the staff asks for the rest of an order that it made dearer, and the rest settles it', async () => {
    const { customer, paymentId, orderCode, id } = await paidOrder();
    await makeDearer(id, oneMore());
    const asked = await askForRest(id);
    expect(asked).toMatchObject({ amount: 2450, url: `${stage.checkout.url}/pay/${asked.paymentId}` });
    expect(asked.paymentId).not.toBe(paymentId);
    // Asked again, it is the same one.
    expect((await askForRest(id)).paymentId).toBe(asked.paymentId);
    await stage.payer.pay(asked.paymentId);
    await settled(orderCode);
    const { payments, totalWithTax } = await orderOf(orderCode);
    expect(totalWithTax).toBe(4900);
    expect(payments.map(({ state, amount }) => [state, amount])).toEqual([
      ['Settled', 2450],
      ['Settled', 2450],
    ]);
    await expect(askForRest(id)).rejects.toThrow('The order is paid or closed');
    await expect(
      customer.query(`mutation { requestCryptoPayment(orderId: "${id}") { url } }`, anything),
    ).rejects.toThrow('Cannot query field "requestCryptoPayment"');
  });

  const giftWrap = {
    surcharges: [{ description: 'Gift wrap', price: 300, priceIncludesTax: true, taxRate: 0 }],
  };
  // vendurehq/vendure#1753: amounts were wrong in an order that was changed and refunded several times.
  test('a refunded part of an order is due again once the staff makes it dearer', async () => {
    const { paymentId, orderCode, id } = await paidOrder();
    const [payment] = (await orderOf(orderCode)).payments;
    const { refundOrder } = await stage.admin.query(
      `mutation ($input: RefundOrderInput!) { refundOrder(input: $input) { ... on Refund { transactionId } } }`,
      z.object({ refundOrder: z.object({ transactionId: z.string() }) }),
      { input: { amount: 1000, paymentId: payment?.id ?? '', lines: [], shipping: 0, adjustment: 0 } },
    );
    const refund_id = refundOrder.transactionId;
    const { claimUrl = '' } = (await stage.keys.client.refunds.link({ params: { refund_id } })).data;
    await stage.payer.claim(claimUrl, refund_id);
    await expect.poll(async () => (await orderOf(orderCode)).payments[0]?.refunds[0]?.state).toBe('Settled');
    await makeDearer(id, giftWrap);
    const asked = await askForRest(id);
    expect(asked.amount).toBe(1300);
    expect(asked.paymentId).not.toBe(paymentId);
    await stage.payer.pay(asked.paymentId);
    await settled(orderCode);
    expect((await orderOf(orderCode)).payments.map(({ state, amount }) => [state, amount])).toEqual([
      ['Settled', 2450],
      ['Settled', 1300],
    ]);
  });

  test.each([
    { when: 'shipped', sent: ['Shipped'], changes: () => giftWrap, becomes: 'Shipped', then: 'Delivered' },
    {
      when: 'shipped, and got one more',
      sent: ['Shipped'],
      changes: oneMore,
      becomes: 'PartiallyShipped',
      then: 'PartiallyDelivered',
    },
    { when: 'packed', sent: [], changes: () => giftWrap, becomes: 'PaymentSettled', then: undefined },
  ])('an order that was $when is $becomes once its rest is paid', async (row) => {
    const { orderCode, id } = await paidOrder();
    const advance = await fulfill(orderCode, ...row.sent);
    await makeDearer(id, row.changes());
    const { paymentId, amount } = await askForRest(id);
    await stage.payer.pay(paymentId);
    await expect.poll(async () => (await orderOf(orderCode)).state).toBe(row.becomes);
    const { payments, totalWithTax } = await orderOf(orderCode);
    expect(totalWithTax).toBe(2450 + amount);
    expect(payments.map(({ state }) => state)).toEqual(['Settled', 'Settled']);
    if (row.then === undefined) return;
    // The parcel arrives, and the order follows it.
    await advance('Delivered');
    expect((await orderOf(orderCode)).state).toBe(row.then);
  });
}
