/** Money that comes: exactly the price, a part, too much, too late, none. */
import { createCheckoutClient } from 'crypto-checkout/client';
import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  checkout,
  chooseCrypto,
  complete,
  eventually,
  expectPaid,
  fillCart,
  lock,
  notificationsAbout,
  orderOf,
  ordersOf,
  pay,
  sandbox,
  send,
} from '../support/customer.js';
import type { Stage } from '../support/stage.js';

const refundAddress = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

export function money(stage: () => Stage): void {
  it('places and pays the order of a payer who closes the page: the webhook does the rest', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    await pay(stage(), stage().eu, session.data.payment_id);
    const [id = ''] = await eventually(
      () => ordersOf(stage(), cart),
      (ids) => expect(ids).toHaveLength(1),
    );
    await eventually(
      () => orderOf(stage(), id),
      (order) => {
        expectPaid(order, 50);
        expect(order.metadata?.['crypto_payment']).toMatch(/^Paid with .* USDT\.$/);
      },
    );
    expect((await complete(stage(), cart)).orderId).toBe(id);
    expect(await ordersOf(stage(), cart)).toEqual([id]);
  });

  it('an order in another currency is paid with the keys of its region', async () => {
    const { cart, session } = await checkout(stage(), stage().us, 3);
    expect(session.data).toMatchObject({ price: '150.00', currency: 'USD' });
    await pay(stage(), stage().us, session.data.payment_id);
    const { orderId = '' } = await complete(stage(), cart);
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => expectPaid(order, 150),
    );
  });

  it('an order shows the part that came, and is paid when the rest comes', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const { orderId = '' } = await complete(stage(), cart);
    const { address, amount } = await pay(stage(), stage().eu, session.data.payment_id, 0.4);
    const part = await eventually(
      () => orderOf(stage(), orderId),
      (order) => expect(order.metadata?.['crypto_payment']).toMatch(/^A part came: .* USDT\.$/),
    );
    expect(part.summary.paid_total).toBe(0);
    await send(stage(), stage().eu, address, amount * 0.6);
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => {
        expectPaid(order, 50);
        expect(order.metadata?.['crypto_payment']).toMatch(/^Paid with/);
      },
    );
  });

  it('pays an order that got too much, notifies the admin, and says "wait" until the refund is paid', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const { orderId = '' } = await complete(stage(), cart);
    const { amount } = await pay(stage(), stage().eu, session.data.payment_id, 1.5);
    const paid = await eventually(
      () => orderOf(stage(), orderId),
      (order) => {
        expectPaid(order, 50);
        expect(order.metadata?.['crypto_payment']).toMatch(/were due\. Refund the rest\.$/);
      },
    );
    await eventually(
      () => notificationsAbout(stage(), session.data.payment_id),
      (all) => expect(all).toHaveLength(1),
    );

    // A part of the order goes back, by Medusa's own button.
    const paymentId = paid.payment_collections[0]?.payments[0]?.id ?? '';
    const refunded = await stage().admin(`/payments/${paymentId}/refund`, { amount: 20 });
    expect(refunded.status).toBe(200);
    const waiting = await eventually(
      () => orderOf(stage(), orderId),
      (order) =>
        expect(order.metadata?.['crypto_refund']).toMatch(/USDT wait for the address of the payer\.$/),
    );
    expect(waiting.payment_collections[0]?.refunded_amount).toBe(20);
    const { client } = stage().eu;
    const { data: refunds } = await client.refunds.list({ query: {} });
    const refund = refunds.find((one) => one.paymentId === session.data.payment_id);
    expect(refund?.amount).toBeCloseTo(amount * 0.4, 1);
    const refund_id = refund?.id ?? '';
    const { claimUrl = '' } = (await client.refunds.link({ params: { refund_id } })).data;
    const token = claimUrl.split('#')[1] ?? '';
    await client.refundClaims.setAddress({ body: { token, address: refundAddress } });
    await client.refunds.approve({ params: { refund_id }, body: { address: refundAddress } });
    await sandbox(stage(), stage().eu, 'clock', { advanceSeconds: 5 });
    await eventually(
      async () => {
        await sandbox(stage(), stage().eu, 'blocks', { network: 'tron', count: 3 });
        return orderOf(stage(), orderId);
      },
      (order) => expect(order.metadata?.['crypto_refund']).toMatch(/were paid back/),
    );

    // One that is cancelled keeps its part with the shop: the next does not send it too (nopSolutions/nopCommerce#1708).
    expect((await stage().admin(`/payments/${paymentId}/refund`, { amount: 10 })).status).toBe(200);
    const cancelled = (await client.refunds.list({ query: { paymentId: session.data.payment_id } })).data[0];
    await client.refunds.cancel({ params: { refund_id: cancelled?.id ?? '' } });
    expect((await stage().admin(`/payments/${paymentId}/refund`, { amount: 20 })).status).toBe(200);
    expect((await stage().admin(`/payments/${paymentId}/refund`, { amount: 1 })).status).toBe(400);
    const { data: all } = await client.refunds.list({ query: { paymentId: session.data.payment_id } });
    expect(all).toHaveLength(3);
    expect(all[0]?.amount).toBeCloseTo(amount * 0.4, 1);
  });

  it('pays an order whose money comes after its time, once the API accepts it', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const { orderId = '' } = await complete(stage(), cart);
    const { address, amount } = await lock(stage(), stage().eu, session.data.payment_id);
    await sandbox(stage(), stage().eu, 'clock', { advanceSeconds: 2000 });
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => {
        expect(order.metadata?.['crypto_payment']).toBe('The time to pay is over: nothing came.');
        expect(order.payment_collections[0]?.payment_sessions[0]?.status).toBe('error');
      },
    );
    await send(stage(), stage().eu, address, amount);
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => {
        expectPaid(order, 50);
        expect(order.metadata?.['crypto_payment']).toMatch(/after the time to pay\.$/);
      },
    );
  });

  it('an order whose payment was cancelled stays unpaid, and shows the money that came anyway', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const { orderId = '' } = await complete(stage(), cart);
    const { address, amount } = await lock(stage(), stage().eu, session.data.payment_id);
    await stage().eu.client.payments.cancel({ params: { payment_id: session.data.payment_id } });
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => {
        expect(order.metadata?.['crypto_payment']).toBe('Cancelled: nothing came.');
        expect(order.payment_collections[0]?.payment_sessions[0]?.status).toBe('canceled');
      },
    );
    await send(stage(), stage().eu, address, amount);
    const open = await eventually(
      () => orderOf(stage(), orderId),
      (order) =>
        expect(order.metadata?.['crypto_payment']).toMatch(/^Cancelled, but money came: .* Refund it\.$/),
    );
    expect(open.summary.paid_total).toBe(0);
    await eventually(
      () => notificationsAbout(stage(), session.data.payment_id),
      (all) => expect(all).toHaveLength(1),
    );
  });

  it('an abandoned order is paid by a further attempt of its payer, at its price only', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const { orderId = '' } = await complete(stage(), cart);
    await lock(stage(), stage().eu, session.data.payment_id);
    await sandbox(stage(), stage().eu, 'clock', { advanceSeconds: 2000 });
    const tag = createCheckoutClient({ apiUrl: stage().api.url, publicKey: stage().eu.keys.publicKey });
    const attempt = async (count: number, amount: string) => {
      const body = { amount, baseCurrency: 'EUR', txRef: `${session.id}:${count}` };
      return (await tag.create(body)).data.payment.id;
    };
    await pay(stage(), stage().eu, await attempt(2, '1.00'));
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => expect(order.metadata?.['crypto_payment']).toBe('The time to pay is over: nothing came.'),
    );
    expect((await orderOf(stage(), orderId)).summary.paid_total).toBe(0);
    const third = await attempt(3, '50.00');
    await pay(stage(), stage().eu, third);
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => {
        expectPaid(order, 50);
        expect(order.metadata?.['crypto_payment']).toMatch(/^Paid with/);
      },
    );
    // Paid again, by mistake, after a part went back: the order stays paid once, and the admin is notified
    // (mollie/WooCommerce#1204).
    const paymentId = (await orderOf(stage(), orderId)).payment_collections[0]?.payments[0]?.id ?? '';
    const refund = (amount: number) => stage().admin(`/payments/${paymentId}/refund`, { amount });
    expect((await refund(20)).status).toBe(200);
    const fourth = await attempt(4, '50.00');
    await pay(stage(), stage().eu, fourth);
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => expect(order.metadata?.['crypto_payment']).toBe(`Paid twice. Refund ${fourth}.`),
    );
    await eventually(
      () => notificationsAbout(stage(), fourth),
      (all) => expect(all).toHaveLength(1),
    );
    expect((await orderOf(stage(), orderId)).payment_collections[0]?.captured_amount).toBe(50);
    // All that is left of the first one goes back with the rest of the price, and no more than that.
    expect((await refund(30)).status).toBe(200);
    expect((await refund(1)).status).toBe(400);
    const { client } = stage().eu;
    const { data: refunds } = await client.refunds.list({ query: { paymentId: third } });
    const { data: paid } = await client.transactions.verify({ params: { transaction_id: third } });
    expect(refunds).toHaveLength(2);
    // The shop keeps the service fee of 1 %.
    expect(refunds.reduce((sum, { amount }) => sum + amount, 0)).toBeCloseTo(0.99 * (paid.amount ?? 0), 4);
  });

  it('a currency that the payment server does not know is refused, and the message names the currency', async () => {
    const region = {
      name: 'Tahiti',
      currency_code: 'xpf',
      countries: ['pf'],
      payment_providers: [stage().eu.provider],
    };
    const made = await stage().admin('/regions', region);
    const { id } = z.object({ region: z.object({ id: z.string() }) }).parse(made.body).region;
    const tahiti = { ...stage().eu, id, currency: 'xpf' };
    const reply = await chooseCrypto(stage(), await fillCart(stage(), tahiti), tahiti);
    expect(reply.status).toBe(400);
    expect(z.object({ message: z.string() }).parse(reply.body).message).toContain('XPF');
  });
}
