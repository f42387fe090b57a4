/** The end of a payment is not the end of its story: refunds by option, money that the shop accepts, and a transfer that goes. */
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
  pay,
  sandbox,
  send,
  sessionIn,
} from '../support/customer.js';
import { openSink } from '../../../../server/test/support/mail-sink.js';
import { command } from '../support/processes.js';
import type { Region, Stage } from '../support/stage.js';

export function afterPayment(stage: () => Stage): void {
  /** A paid order, refunded whole. @returns the payment server's record of the refund */
  const refundWhole = async (region: Region) => {
    // The network's fee, and the service fee that is given back, come out of the shop's balance.
    const another = await checkout(stage(), region);
    await pay(stage(), region, another.session.data.payment_id);
    const cart = await fillCart(stage(), region);
    const session = sessionIn(await chooseCrypto(stage(), cart, region, { email: 'ada@example.com' }));
    const { orderId = '' } = await complete(stage(), cart);
    const { amount } = await pay(stage(), region, session.data.payment_id);
    const order = await eventually(
      () => orderOf(stage(), orderId),
      (paid) => expectPaid(paid, 50),
    );
    const id = order.payment_collections[0]?.payments[0]?.id ?? '';
    const reply = await stage().admin(`/payments/${id}/refund`, { amount: 50 });
    const { data } = await region.client.refunds.list({ query: {} });
    return { reply, amount, refund: data.find((one) => one.paymentId === session.data.payment_id), orderId };
  };

  it('a refund leaves out the service fee, unless the shop gives the fee back', async () => {
    const kept = await refundWhole(stage().eu);
    expect(kept.reply.status).toBe(200);
    expect(kept.refund?.amount).toBeCloseTo(kept.amount * 0.99, 4);
    const given = await refundWhole({ ...stage().eu, provider: 'pp_crypto-checkout_eu-generous' });
    expect(given.reply.status).toBe(200);
    expect(given.refund?.amount).toBeCloseTo(given.amount, 4);
  });

  it('the link of a refund is sent by email, and the refund is refused with a reason if no email can be sent', async () => {
    const region = { ...stage().eu, provider: 'pp_crypto-checkout_eu-mailed' };
    const refused = await refundWhole(region);
    expect(refused.reply.status).toBe(400);
    expect(z.object({ message: z.string() }).parse(refused.reply.body).message).toMatch(
      /^No message can be sent to this payer/,
    );
    expect(refused.refund).toBeUndefined();
    const { payment_collections } = await orderOf(stage(), refused.orderId);
    expect(payment_collections[0]?.refunded_amount ?? 0).toBe(0);

    const sink = await openSink();
    const choice = [
      'mail',
      'choose',
      '--merchant',
      region.keys.id,
      '--mode',
      'test',
      '--kinds',
      'refundLink',
    ];
    try {
      await command(stage().database, choice);
      await stage().api.kill();
      await stage().api.start({
        BLOCK_INTERVAL_MS: '0',
        SMTP_URL: sink.url,
        MAIL_FROM: 'pay@shop.example',
      });
      const { reply, refund } = await refundWhole(region);
      expect(reply.status).toBe(200);
      const [letter] = await eventually(
        () => Promise.resolve(sink.letters),
        (letters) => expect(letters).toHaveLength(1),
      );
      expect(letter?.recipients).toEqual(['ada@example.com']);
      const [, token = ''] = /\/refund#([\w-]+)/.exec(letter?.text ?? '') ?? [];
      await region.client.refundClaims.setAddress({
        body: { token, address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' },
      });
      const known = await region.client.refunds.retrieve({ params: { refund_id: refund?.id ?? '' } });
      expect(known.data.status).toBe('awaiting_approval');
    } finally {
      await stage().api.kill();
      await stage().api.start({ BLOCK_INTERVAL_MS: '0' });
      await sink.stop();
    }
  });

  it('pays an order with the short sum that the shop accepts, and says so', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const { orderId = '' } = await complete(stage(), cart);
    const { address } = await lock(stage(), stage().eu, session.data.payment_id);
    await send(stage(), stage().eu, address, 20);
    await sandbox(stage(), stage().eu, 'clock', { advanceSeconds: 200_000 });
    await eventually(
      () => orderOf(stage(), orderId),
      (order) =>
        expect(order.metadata?.['crypto_payment']).toBe(
          'The time to pay is over, but money came: 20 USDT. Refund it.',
        ),
    );
    await stage().eu.client.transactions.accept({
      params: { transaction_id: session.data.payment_id },
      body: { amount: '20', note: 'A regular customer' },
    });
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => {
        expectPaid(order, 50);
        expect(order.metadata?.['crypto_payment']).toMatch(
          /^Paid with 20 USDT, which you accepted instead of/,
        );
      },
    );
  });

  it('notifies the admin when the network removes the transfer of a paid order', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const { orderId = '' } = await complete(stage(), cart);
    const { address } = await pay(stage(), stage().eu, session.data.payment_id);
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => expectPaid(order, 50),
    );
    await sandbox(stage(), stage().eu, 'reorgs', { network: 'tron', depth: 20, keep: false, address });
    const order = await eventually(
      () => orderOf(stage(), orderId),
      (one) =>
        expect(one.metadata).toEqual({
          crypto_payment: 'The network removed the transfer. Do not deliver the order.',
          crypto_console: `${stage().api.url}/console/test/payments/${session.data.payment_id}`,
        }),
    );
    expect(order.payment_collections[0]?.payments).toHaveLength(1);
    await eventually(
      () => notificationsAbout(stage(), session.data.payment_id),
      (all) => expect(all).toEqual([expect.stringContaining('Do not deliver')]),
    );
  });

  // medusajs/medusa#16727: "Check status" captures a payment without an event, so that what waits for one never comes.
  it('an order with a lost webhook is paid once by "Check status" in the admin, and its webhook then changes nothing', async () => {
    const { cart, session } = await checkout(stage(), stage().eu);
    const { orderId = '' } = await complete(stage(), cart);
    stage().relay.copies = 0;
    await pay(stage(), stage().eu, session.data.payment_id);
    const { client } = stage().eu;
    await eventually(
      async () =>
        (await client.transactions.verify({ params: { transaction_id: session.data.payment_id } })).data,
      ({ status }) => expect(status).toBe('success'),
    );
    expect((await orderOf(stage(), orderId)).summary.paid_total).toBe(0);
    const checked = await stage().admin(`/orders/${orderId}/payment-sessions/authorize`, {
      payment_session_id: session.id,
    });
    expect(checked.status, JSON.stringify(checked.body)).toBe(200);
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => expectPaid(order, 50),
    );
    stage().relay.copies = 1;
    await client.transactions.resendWebhook({ params: { transaction_id: session.data.payment_id } });
    await eventually(
      () => orderOf(stage(), orderId),
      (order) => {
        expectPaid(order, 50);
        expect(order.metadata?.['crypto_payment']).toMatch(/^Paid with/);
      },
    );
  });
}
