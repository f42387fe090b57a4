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
    relay.copies = 0;
    await pay(stage(), stage().eu, session.data.payment_id);
    const genuine = await eventually(
      async () =>
        relay.deliveries.find(
          ({ body }) => body.includes(session.data.payment_id) && body.includes('"payment.success"'),
        ),
      (found) => expect(found).toBeDefined(),
    );
    if (genuine === undefined) throw new Error('No webhook came');
    relay.copies = 1;

    // Another region's shop has a payment of its own with this reference.
    const stolen = await us.client.payments.create({
      body: { amount: '50.00', baseCurrency: 'EUR', txRef: session.id },
    });
    await pay(stage(), us, stolen.data.payment.id);
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
    const open = await orderOf(stage(), orderId);
    expect(open.summary.paid_total).toBe(0);
    expect(open.payment_collections[0]?.payments).toEqual([]);

    expect(await deliver(medusa.url, genuine)).toBe(200);
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => expectPaid(order, 50),
    );
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

  it('shows the storefront no secret', () => {
    const told = stage().told.join('\n');
    expect(told).toContain('pk_test_');
    expect(told).not.toMatch(/sk_test_|whsec_|\/claim#/);
  });
}
