/** The example merchant server with a real API server: orders are paid on a simulated chain and delivered once. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createCheckoutClient,
  createMerchantClient,
  type CheckoutClient,
  type MerchantClient,
} from 'crypto-checkout/client';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openOrders, type Orders } from '../../../demo/merchant-server/orders.mjs';
import { createShop } from '../../../demo/merchant-server/shop.mjs';
import { enginesOfQuick } from '../support/engines.js';
import { openShop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfQuick)('a merchant’s server, with the API on $name', (engine) => {
  let api: TestServer;
  let client: MerchantClient;
  let checkout: CheckoutClient;
  let orders: Orders;
  let listener: Server;
  let url: string;
  let webhookSecret: string;
  const lines: string[] = [];

  beforeAll(async () => {
    api = await startServer({ engine });
    client = createMerchantClient({ apiUrl: api.url, secretKey: api.secretKey });
    checkout = createCheckoutClient({ apiUrl: api.url, publicKey: api.publicKey });
    orders = openOrders(':memory:');
    listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const { merchantId } = api.bootstrapped;
    const updated = await openShop(api).command(
      ...['merchants', 'update', merchantId, '--webhook-url', `${url}/webhooks`, '--mode', 'test'],
    );
    ({ webhookSecret } = updated as { webhookSecret: string });
    const log = (line: string) => void lines.push(line);
    const { publicKey } = api;
    const shop = createShop({
      client,
      apiUrl: api.url,
      publicKey,
      webhookSecrets: [webhookSecret],
      shopUrl: url,
      orders,
      log,
    });
    listener.on('request', (request, response) => void shop(request, response));
  });

  afterAll(async () => {
    await api.stop();
    listener.close();
    listener.closeAllConnections();
    orders.close();
  });

  /** Posts the shop's order form, as a browser does. */
  async function order(quantity = 2): Promise<string> {
    const body = new URLSearchParams({ quantity: String(quantity) });
    const reply = await fetch(`${url}/orders`, { method: 'POST', body, redirect: 'manual' });
    expect(reply.status).toBe(303);
    return reply.headers.get('location')?.split('/').at(-1) ?? '';
  }

  const page = async (reference: string) => (await fetch(`${url}/orders/${reference}`)).text();
  const paymentOf = (reference: string) => orders.find(reference)?.paymentId ?? '';

  /** Pays `share` of the amount, as a payer does with the widget and a wallet. */
  async function payShare(paymentId: string, share = 1): Promise<void> {
    const payer = openShop(api);
    const { address, amount } = await payer.choose(paymentId, {}, api.publicKey);
    await payer.pay(address, amount * share);
  }

  const logged = (text: string) => lines.filter((line) => line.includes(text));
  const toHaveLogged = (text: string, times = 1) =>
    vi.waitFor(() => expect(logged(text), lines.join('\n')).toHaveLength(times), { timeout: 15_000 });
  const isPaid = (reference: string) => `${reference} is paid by`;

  it('a merchant’s server embeds the checkout of a payment that it created, without exposing the secret key', async () => {
    const reference = await order(3);
    const html = await page(reference);
    expect(html).toContain(`<script type="module" src="${api.url}/crypto-checkout.js"></script>`);
    expect(html).toContain(`payment-id="${paymentOf(reference)}"`);
    expect(html).toContain(`public-key="${api.publicKey}"`);
    expect(html).not.toContain(api.secretKey);
    expect((await fetch(/href="([^"]*\/pay\/[^"]*)"/.exec(html)?.[1] ?? '')).status).toBe(200);
    const { data } = await client.payments.retrieve({ params: { payment_id: paymentOf(reference) } });
    expect(data).toMatchObject({ baseAmount: 73.5, baseCurrency: 'USD', txRef: reference });
    expect(data.redirectUrl).toBe(`${url}/orders/${reference}`);
  });

  it('a merchant’s server learns of a payment by webhook, and delivers once despite repeated webhooks and page loads', async () => {
    const reference = await order();
    await payShare(paymentOf(reference));
    // No page was loaded, so it was the webhook.
    await toHaveLogged(isPaid(reference));
    const [received = ''] = logged('payment.success').slice(-1);
    const pages = Array.from({ length: 10 }, () => page(reference));
    await client.transactions.resendWebhook({ params: { transaction_id: paymentOf(reference) } });
    await toHaveLogged(received, 2);
    for (const html of await Promise.all(pages)) expect(html).toContain('Paid.');
    expect(logged(isPaid(reference))).toEqual([
      `${reference} is paid by ${paymentOf(reference)}: deliver it`,
    ]);
  });

  it('a merchant’s server delivers once when page loads and the webhook arrive at the same time', async () => {
    const reference = await order();
    const pages: Promise<string>[] = [];
    const paying = payShare(paymentOf(reference)).finally(() => clearInterval(timer));
    const timer = setInterval(() => pages.push(page(reference)), 5);
    await paying;
    pages.push(page(reference), page(reference));
    await Promise.all(pages);
    await toHaveLogged(isPaid(reference));
    expect(await page(reference)).toContain('Paid.');
  });

  it('a merchant’s server does not deliver an underpaid order', async () => {
    const reference = await order();
    await payShare(paymentOf(reference), 0.5);
    await toHaveLogged('payment.partial');
    expect(await page(reference)).toContain('<crypto-checkout');
    expect(orders.find(reference)?.paidBy).toBeNull();
  });

  it('an excess is given back once, by a link on the page of the order', async () => {
    const reference = await order();
    await payShare(paymentOf(reference), 1.5);
    await toHaveLogged(`${reference} was overpaid: `);
    await Promise.all([page(reference), page(reference)]);
    const { data } = await client.refunds.list({ query: { paymentId: paymentOf(reference) } });
    expect(data).toMatchObject([{ kind: 'excess', status: 'awaiting_address', amount: 24.5 }]);
    expect(await page(reference)).toContain(`href="${api.url}/refund#`);
    expect(logged(`${reference} was overpaid`)).toHaveLength(1);
  });

  const createSecondPayment = async (reference: string, amount: string) =>
    (await checkout.create({ amount, baseCurrency: 'USD', txRef: `${reference}:2` })).data.payment.id;

  it('a merchant’s server accepts the checkout’s second payment for an order', async () => {
    const reference = await order(1);
    await checkout.cancel(paymentOf(reference));
    const second = await createSecondPayment(reference, '24.50');
    await payShare(second);
    await toHaveLogged(`${isPaid(reference)} ${second}: deliver it`);
  });

  it('a merchant’s server logs that an order was paid twice', async () => {
    const reference = await order(1);
    const second = await createSecondPayment(reference, '24.50');
    await payShare(paymentOf(reference));
    await toHaveLogged(isPaid(reference));
    await payShare(second);
    await toHaveLogged(`${reference} is paid again by ${second}: refund it`);
    expect(orders.find(reference)?.paidBy).toBe(paymentOf(reference));
  });

  it('a merchant’s server is not fooled by a page that sends a lower price', async () => {
    const reference = await order(9);
    await payShare(await createSecondPayment(reference, '1'));
    await toHaveLogged(`${reference} stays open. The price is 1 USD, not 220.5 USD.`);
    expect(orders.find(reference)?.paidBy).toBeNull();
  });

  it('a merchant’s server rejects a forged webhook and an old one', async () => {
    const reference = await order();
    const postWebhook = (secret: string, time: Date) => {
      const body = JSON.stringify({ type: 'payment.success', data: { id: paymentOf(reference) } });
      return fetch(`${url}/webhooks`, {
        method: 'POST',
        body,
        headers: {
          'webhook-id': 'msg_1',
          'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
          'webhook-signature': new Webhook(secret).sign('msg_1', time, body),
        },
      });
    };
    const anHourAgo = new Date(Date.now() - 3_600_000);
    expect((await postWebhook(`whsec_${Buffer.alloc(32, 7).toString('base64')}`, new Date())).status).toBe(
      400,
    );
    expect((await postWebhook(webhookSecret, anHourAgo)).status).toBe(400);
    expect((await fetch(`${url}/webhooks`, { method: 'POST' })).status).toBe(400);
    expect(orders.find(reference)?.paidBy).toBeNull();
  });

  it.each(['0', '10', '1.5', 'all', ''])('an order of "%s" is refused', async (quantity) => {
    const body = new URLSearchParams({ quantity });
    expect((await fetch(`${url}/orders`, { method: 'POST', body })).status).toBe(400);
  });

  it('an unknown order is a 404', async () => {
    expect((await fetch(`${url}/orders/order-1`)).status).toBe(404);
  });
});
