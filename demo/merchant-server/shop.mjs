/**
 * A merchant's server: creates payments with the secret key, shows their checkout, and delivers an order once when
 * the API says that it was paid, be it asked or told by webhook.
 */
import { randomUUID } from 'node:crypto';
import { ApiError, verifyPayment, verifyWebhook, WebhookError } from 'crypto-checkout/client';
import { fromUnits, toUnits } from 'crypto-checkout/contract';
import express from 'express';
import { counterPage, messagePage, orderPage } from './pages.mjs';

/**
 * @typedef {object} ShopOptions
 * @property {import('crypto-checkout/client').MerchantClient} client with the secret key
 * @property {string} apiUrl where the payment API is
 * @property {string} publicKey
 * @property {string[]} webhookSecrets two while one is replaced by another
 * @property {string} shopUrl where payers come back to
 * @property {import('./orders.mjs').Orders} orders
 * @property {(line: string) => void} log
 */

/** What a lantern costs. It stands here, never in a form. */
const price = { amount: '24.50', currency: 'USD' };

/** @param {ShopOptions} options */
export function createShop({ client, apiUrl, publicKey, webhookSecrets, shopUrl, orders, log }) {
  /**
   * Asks the API how a payment stands, and settles its order if all four rules hold. Safe to call at any time, for any
   * payment, any number of times: value is given by `orders.settle`, which says `paid` once.
   *
   * @param {string} paymentId
   */
  async function settle(paymentId) {
    const { data: transaction } = await client.transactions.verify({ params: { transaction_id: paymentId } });
    // The checkout's second attempt at an order is `reference:2`; our references have no colon of their own.
    const [reference = ''] = (transaction.txRef ?? '').split(':');
    const order = orders.find(reference);
    if (!order) return log(`payment ${paymentId} is for no order of ours`);
    const { verified, failed, isOverpaid } = verifyPayment(transaction, {
      txRef: order.reference,
      baseAmount: order.amount,
      baseCurrency: order.currency,
    });
    if (!verified) {
      const isUndone = order.paidBy === paymentId;
      const why = failed.map(({ message }) => message).join(' ');
      return log(`${reference} ${isUndone ? 'is no longer paid: stop its delivery' : 'stays open'}. ${why}`);
    }
    const settlement = orders.settle(reference, paymentId);
    if (settlement === 'paid') log(`${reference} is paid by ${paymentId}: deliver it`);
    if (settlement === 'paid twice') log(`${reference} is paid again by ${paymentId}: give that back`);
    if (settlement === 'paid' && isOverpaid) log(`${reference} was overpaid: give the rest back if asked`);
  }

  const app = express();
  app.disable('x-powered-by');

  // Before any parser of JSON: what was signed are the bytes.
  app.post('/webhooks', express.raw({ type: () => true, limit: '1mb' }), async (request, response) => {
    const event = verifyWebhook(request.body ?? '', request.headers, webhookSecrets);
    log(`webhook ${event.id}: ${event.type}`);
    // The event says that there is news; the API says what is true now, as events may come late or twice.
    if (event.type.startsWith('payment.')) await settle(String(event.data['id']));
    // Only now: any other answer, and no answer, and the event comes again.
    response.sendStatus(204);
  });

  app.get('/', (_request, response) => {
    response.send(counterPage(price.amount, price.currency));
  });

  app.post('/orders', express.urlencoded({ extended: false }), async (request, response) => {
    const quantity = Number(request.body?.quantity);
    if (!Number.isInteger(quantity) || quantity < 1 || quantity > 9) {
      response.status(400).send(messagePage('Please order 1 to 9 lanterns'));
      return;
    }
    const reference = `order-${randomUUID()}`;
    const amount = fromUnits(toUnits(price.amount, 2) * BigInt(quantity), 2);
    const { data } = await client.payments.create({
      body: {
        amount,
        baseCurrency: price.currency,
        txRef: reference,
        redirectUrl: `${shopUrl}/orders/${reference}`,
      },
    });
    const { payment, url } = data;
    orders.add({
      ...{ reference, quantity, amount, currency: price.currency },
      ...{ paymentId: payment.id, paymentUrl: url, paidBy: null },
    });
    response.redirect(303, `/orders/${reference}`);
  });

  app.get('/orders/:reference', async (request, response) => {
    const { reference } = request.params;
    const { paymentId, paidBy } = orders.find(reference) ?? {};
    // Who comes back from paying may be faster than the webhook.
    if (paymentId !== undefined && paidBy === null) await settle(paymentId);
    const order = orders.find(reference);
    if (!order) {
      response.status(404).send(messagePage('There is no such order'));
      return;
    }
    response.send(orderPage(order, { apiUrl, publicKey }));
  });

  app.use(
    /** @type {import('express').ErrorRequestHandler} */
    (error, _request, response, next) => {
      if (response.headersSent) return next(error);
      if (error instanceof WebhookError) {
        log(`webhook refused, ${error.code}: ${error.remedy}`);
        response.sendStatus(error.code === 'webhook_type_unknown' ? 204 : 400);
      } else {
        const requestId = error instanceof ApiError ? `, request ${error.requestId}` : '';
        log(`${error instanceof Error ? error.message : 'something failed'}${requestId}`);
        response.status(500).send(messagePage('That did not work. Try again in a moment'));
      }
    },
  );
  return app;
}
