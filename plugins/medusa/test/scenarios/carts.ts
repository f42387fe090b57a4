/** Carts that change, or are open twice, before and while they are paid. */
import { createCheckoutClient } from 'crypto-checkout/client';
import { expect, it } from 'vitest';
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
  send,
  sessionIn,
} from '../support/customer.js';
import type { Stage } from '../support/stage.js';

export function carts(stage: () => Stage): void {
  it('in two tabs is one order: the older payment ends, and only one can be paid', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const second = sessionIn(await chooseCrypto(stage(), cart, stage().eu));
    const { client } = stage().eu;
    const older = await client.payments.retrieve({ params: { payment_id: session.data.payment_id } });
    expect(older.data.status).toBe('cancelled');
    await pay(stage(), stage().eu, second.data.payment_id);
    const [one, other] = await Promise.all([complete(stage(), cart), complete(stage(), cart)]);
    const id = one.orderId ?? other.orderId ?? '';
    await eventually(
      () => orderOf(stage(), id),
      (order) => expectPaid(order, 50),
    );
    expect(await ordersOf(stage(), cart)).toEqual([id]);
  });

  it('a cart keeps its payment once money has come, whatever the other tab does', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const { address, amount } = await pay(stage(), stage().eu, session.data.payment_id, 0.5);
    const refused = await chooseCrypto(stage(), cart, stage().eu);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    const changed = await stage().store(`/carts/${cart.id}/line-items`, {
      variant_id: stage().variant,
      quantity: 1,
    });
    expect(changed.status).toBeGreaterThanOrEqual(400);
    await send(stage(), stage().eu, address, amount * 0.5);
    const [id = ''] = await eventually(
      () => ordersOf(stage(), cart),
      (ids) => expect(ids).toHaveLength(1),
    );
    await eventually(
      () => orderOf(stage(), id),
      (order) => expectPaid(order, 50),
    );
  });

  it('a cart keeps the money of a payer who used another coin, whatever the other tab does', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const tag = createCheckoutClient({ apiUrl: stage().api.url, publicKey: stage().eu.keys.publicKey });
    await tag.cancel(session.data.payment_id);
    const body = { amount: '50.00', baseCurrency: 'EUR', txRef: `${session.id}:2` };
    const attempt = (await tag.create(body)).data.payment.id;
    const { address, amount } = await pay(stage(), stage().eu, attempt, 0.5);
    const refused = await chooseCrypto(stage(), cart, stage().eu);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    const line = { variant_id: stage().variant, quantity: 1 };
    const changed = await stage().store(`/carts/${cart.id}/line-items`, line);
    expect(changed.status).toBeGreaterThanOrEqual(400);
    await send(stage(), stage().eu, address, amount * 0.5);
    const [id = ''] = await eventually(
      () => ordersOf(stage(), cart),
      (ids) => expect(ids).toHaveLength(1),
    );
    await eventually(
      () => orderOf(stage(), id),
      (order) => expectPaid(order, 50),
    );
  });

  it('a cart has another payment after its price has changed, and the old one pays nothing', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const old = await lock(stage(), stage().eu, session.data.payment_id);
    await stage().store(`/carts/${cart.id}/line-items`, { variant_id: stage().variant, quantity: 1 });
    expect((await complete(stage(), cart)).orderId).toBeUndefined();
    const next = sessionIn(await chooseCrypto(stage(), cart, stage().eu));
    expect(next.data.price).toBe('100.00');
    await send(stage(), stage().eu, old.address, old.amount);
    await eventually(
      () => notificationsAbout(stage(), session.data.payment_id),
      (all) => expect(all).toEqual([expect.stringContaining('a cart that has changed')]),
    );
    expect(await ordersOf(stage(), cart)).toEqual([]);
    await pay(stage(), stage().eu, next.data.payment_id);
    const { orderId = '' } = await complete(stage(), cart);
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => expectPaid(order, 100),
    );
  });

  it('becomes no order before it is paid, if the shop wants that', async () => {
    const region = { ...stage().eu, provider: 'pp_crypto-checkout_eu-paid-first' };
    const cart = await fillCart(stage(), region);
    const session = sessionIn(await chooseCrypto(stage(), cart, region));
    const early = await complete(stage(), cart);
    expect(early).toMatchObject({ status: 400, body: { type: 'not_allowed' } });
    expect(await ordersOf(stage(), cart)).toEqual([]);
    await pay(stage(), region, session.data.payment_id);
    const { orderId = '' } = await complete(stage(), cart);
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => expectPaid(order, 50),
    );
  });
}
