/**
 * A merchant's server. It creates payments with the secret key and shows their checkout. When a webhook arrives or the
 * payer returns, it asks the API whether the order is paid, and delivers it once.
 */
import { randomUUID } from 'node:crypto';
import { ApiError, CheckoutError, verifyPayment, verifyWebhook, WebhookError } from 'crypto-checkout/client';
import { fromUnits, toUnits } from 'crypto-checkout/contract';
import express from 'express';
import { counterPage, messagePage, orderPage } from './pages.mjs';

/**
 * @typedef {object} ShopOptions
 * @property {import('crypto-checkout/client').MerchantClient} client with the secret key
 * @property {string} apiUrl the payment API's URL
 * @property {string} publicKey
 * @property {string[]} webhookSecrets two while one replaces the other
 * @property {string} shopUrl the shop's URL, where payers return to
 * @property {import('./orders.mjs').Orders} orders
 * @property {(line: string) => void} log
 */

/** The price of one lantern. It comes from the server, never from a form. */
const price = { amount: '24.50', currency: 'USD' };

/** @param {ShopOptions} options */
export function createShop({ client, apiUrl, publicKey, webhookSecrets, shopUrl, orders, log }) {
  // Test payments are accepted only while the shop itself runs with test keys.
  const mode = publicKey.startsWith('pk_test_') ? 'test' : 'live';

  /**
   * Asks the API for a payment's current status, and settles its order if all checks pass. It is safe to call at any
   * time, for any payment, any number of times: `orders.settle` returns `paid` only once per order.
   *
   * @param {string} paymentId
   */
  async function settle(paymentId) {
    const { data: transaction } = await client.transactions.verify({ params: { transaction_id: paymentId } });
    // The checkout's second attempt at an order is `reference:2`. Our own references contain no colon.
    const [reference = ''] = (transaction.txRef ?? '').split(':');
    const order = orders.find(reference);
    if (!order) return log(`payment ${paymentId} does not belong to any order of ours`);
    const { verified, failed, isOverpaid } = verifyPayment(transaction, {
      txRef: order.reference,
      baseAmount: order.amount,
      baseCurrency: order.currency,
      mode,
    });
    if (!verified) {
      const isReversed = order.paidBy === paymentId;
      const why = failed.map(({ message }) => message).join(' ');
      return log(
        `${reference} ${isReversed ? 'is no longer paid: stop its delivery' : 'stays open'}. ${why}`,
      );
    }
    const settlement = orders.settle(reference, paymentId);
    if (settlement === 'paid') log(`${reference} is paid by ${paymentId}: deliver it`);
    if (settlement === 'paid twice') log(`${reference} is paid again by ${paymentId}: refund it`);
    if (isOverpaid && settlement !== 'paid twice' && order.refundUrl === null) {
      await refundExcess(order.reference, paymentId);
    }
  }

  /**
   * Starts a refund of the excess. The payer gives an address on the page of the link, and somebody approves it, unless
   * the merchant approves small ones automatically.
   *
   * @param {string} reference
   * @param {string} paymentId
   */
  async function refundExcess(reference, paymentId) {
    try {
      const { data: refund } = await client.refunds.create({
        params: { payment_id: paymentId },
        body: { kind: 'excess', reason: 'You sent more than the price' },
        // Webhooks come more than once.
        idempotencyKey: `excess-${paymentId}`,
      });
      // Only the first reply has the link: the payment server does not store it.
      const link =
        refund.claimUrl ?? (await client.refunds.link({ params: { refund_id: refund.id } })).data.claimUrl;
      if (link) orders.setRefund(reference, link);
      if (refund.claimUrl) log(`${reference} was overpaid: ${refund.amount} ${refund.currency} go back`);
    } catch (error) {
      // The order is paid anyway. Somebody has to look at it.
      if (!(error instanceof ApiError)) throw error;
      log(`${reference} was overpaid, and could not be refunded: ${error.shortMessage}`);
    }
  }

  const app = express();
  app.disable('x-powered-by');

  // Must come before any JSON parser: the signature covers the raw bytes.
  app.post('/webhooks', express.raw({ type: () => true, limit: '1mb' }), async (request, response) => {
    const event = verifyWebhook(request.body ?? '', request.headers, webhookSecrets);
    log(`webhook ${event.id}: ${event.type}`);
    // Events may come late, twice or out of order, so ask the API for the current state.
    if (event.type.startsWith('payment.')) await settle(String(event.data['id']));
    // Answer only now. Without a 2xx, the API sends the event again.
    response.sendStatus(204);
  });

  app.get('/', (_request, response) => {
    response.send(counterPage(price.amount, price.currency));
  });

  app.post('/orders', express.urlencoded({ extended: false }), async (request, response) => {
    const quantity = Number(request.body?.quantity);
    if (!Number.isInteger(quantity) || quantity < 1 || quantity > 9) {
      response.status(400).send(messagePage('Order 1 to 9 lanterns'));
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
      reference,
      quantity,
      amount,
      currency: price.currency,
      paymentId: payment.id,
      paymentUrl: url,
      paidBy: null,
      refundUrl: null,
    });
    response.redirect(303, `/orders/${reference}`);
  });

  app.get('/orders/:reference', async (request, response) => {
    const { reference } = request.params;
    const { paymentId, paidBy } = orders.find(reference) ?? {};
    // The payer may return before the webhook arrives.
    if (paymentId !== undefined && paidBy === null) await settle(paymentId);
    const order = orders.find(reference);
    if (!order) {
      response.status(404).send(messagePage('Order not found'));
      return;
    }
    response.send(orderPage(order, { apiUrl, publicKey }));
  });

  app.use(
    /**
     * @param {unknown} error
     * @param {import('express').Request} _request
     * @param {import('express').Response} response
     * @param {import('express').NextFunction} next
     */
    (error, _request, response, next) => {
      if (response.headersSent) return next(error);
      if (error instanceof WebhookError) {
        log(`webhook rejected: ${error.shortMessage}. ${error.remedy}`);
        response.sendStatus(error.code === 'webhook_type_unknown' ? 204 : 400);
      } else {
        const requestId = error instanceof ApiError ? `, request ${error.requestId}` : '';
        log(`${messageOf(error)}${requestId}`);
        response.status(500).send(messagePage('Something went wrong. Try again in a moment'));
      }
    },
  );
  return app;
}

/** One line: the `message` of a `CheckoutError` also has the remedy and a link. @param {unknown} error */
function messageOf(error) {
  if (error instanceof CheckoutError) return error.shortMessage;
  return error instanceof Error ? error.message : String(error);
}
