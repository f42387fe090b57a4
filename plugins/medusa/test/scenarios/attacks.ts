/** Requests of people who have not paid: nothing of it settles an order. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  checkout,
  chooseCrypto,
  complete,
  eventually,
  expectPaid,
  fillCart,
  orderOf,
  pay,
  sessionIn,
} from '../support/customer.js';
import { deliver } from '../support/relay.js';
import type { Stage } from '../support/stage.js';

export function attacks(stage: () => Stage): void {
  it('settles nothing by a forged webhook, one of another region, or one with the wrong secret', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const { orderId = '' } = await complete(stage(), cart);
    const { relay, medusa, us } = stage();
    const success = async (paymentId: string) =>
      eventually(
        async () => relay.deliveries.filter(({ body }) => body.includes(paymentId)),
        (found) => expect(found.map(({ body }) => body.toString()).join()).toContain('"payment.success"'),
      );

    // Another region's shop has a payment of its own with the reference of an order that is not paid.
    const unpaid = await checkout(stage(), stage().eu);
    const { orderId: unpaidId = '' } = await complete(stage(), unpaid.cart);
    const other = await us.client.payments.create({
      body: { amount: '50.00', baseCurrency: 'EUR', txRef: unpaid.session.id },
    });
    await pay(stage(), us, other.data.payment.id);
    await success(other.data.payment.id);

    // From here Medusa gets only what is sent below: each true event about a paid payment settles the order.
    relay.copies = 0;
    await pay(stage(), stage().eu, session.data.payment_id);
    const events = await success(session.data.payment_id);
    const genuine = events.find(({ body }) => body.includes('"payment.success"'));
    if (genuine === undefined) throw new Error('No webhook came');

    // Events about no payment, such as the end of a transfer of another test, are refused too.
    const refusals = async () => {
      const log = await readFile(join(stage().folder, 'medusa.log'), 'utf8');
      return [...log.matchAll(/webhook refused\. (?!\S+ is about no payment)/g)].length;
    };
    const before = await refusals();
    const changed = Buffer.from(genuine.body.toString().replace('payment.success', 'payment.overpaid'));
    await deliver(medusa.url, { ...genuine, body: changed });
    await deliver(medusa.url, { ...genuine, path: genuine.path.replace('_eu', '_us') });
    await deliver(medusa.url, {
      ...genuine,
      headers: { ...genuine.headers, 'webhook-signature': 'v1,AAAA' },
    });
    await deliver(medusa.url, { ...genuine, headers: { 'content-type': 'application/json' } });
    await eventually(refusals, (count) => expect(count).toBe(before + 4));
    // Medusa acts on webhooks in the order in which they come, so it has acted on the other region's too.
    for (const id of [orderId, unpaidId]) {
      const open = await orderOf(stage(), id);
      expect(open.summary.paid_total).toBe(0);
      expect(open.payment_collections[0]?.payments).toEqual([]);
    }

    expect(await deliver(medusa.url, genuine)).toBe(200);
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => expectPaid(order, 50),
    );
    relay.copies = 1;
  });

  it('believes nothing that a storefront says about price, payment or reference', async () => {
    const paid = await checkout(stage(), stage().eu);
    await pay(stage(), stage().eu, paid.session.data.payment_id);
    const cart = await fillCart(stage(), stage().eu);
    const given = { ...paid.session.data, price: '0.01', currency: 'NGN', session_id: paid.session.id };
    const session = sessionIn(await chooseCrypto(stage(), cart, stage().eu, given));
    expect(session.data).toMatchObject({ price: '50.00', currency: 'EUR', tx_ref: session.id });
    expect(session.data.payment_id).not.toBe(paid.session.data.payment_id);
    const { orderId = '' } = await complete(stage(), cart);
    expect((await orderOf(stage(), orderId)).summary.paid_total).toBe(0);
  });

  it('the replies to the storefront contain no secret', () => {
    const replies = stage().storefrontReplies.join('\n');
    expect(replies).toContain('pk_test_');
    expect(replies).not.toMatch(/sk_test_|whsec_|\/claim#/);
  });
}
