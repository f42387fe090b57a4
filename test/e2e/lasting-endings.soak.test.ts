/** Every ending of a payment stays, however the payer comes back to it. */
import type { CheckoutStatus } from 'crypto-checkout';
import type { Payment, PaymentState } from 'crypto-checkout/contract';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { checkoutOn } from './checkout.js';
import { useStage } from './stage.js';

const stage = useStage({ blockIntervalMs: 0 });

const paymentCount = async () =>
  (await stage.merchant.transactions.list({ query: { skip: 1 } })).pagination?.total ?? 0;

const coin = { network: 'tron', count: 2 };
const due = ({ amountDue = 0 }: Payment) => amountDue;
const confirm = () => stage.sandbox('blocks', coin);
const expire = async () => {
  await stage.sandbox('clock', { advanceSeconds: 3600 });
  await confirm();
};
const cancel = ({ id }: Payment) => stage.merchant.payments.cancel({ params: { payment_id: id } });

/** Each way a payment ends: the state, what the checkout calls it, and what leads to it. */
const endings: readonly (readonly [PaymentState, CheckoutStatus, (payment: Payment) => Promise<unknown>])[] =
  [
    ['settled', 'success', (payment) => stage.send(payment, due(payment)).then(confirm)],
    ['settled_over', 'success', (payment) => stage.send(payment, due(payment) + 1).then(confirm)],
    [
      'settled_late',
      'success',
      (payment) =>
        expire()
          .then(() => stage.send(payment, due(payment)))
          .then(confirm),
    ],
    ['expired', 'expired', expire],
    ['expired_partial', 'expired', (payment) => stage.send(payment, 1).then(confirm).then(expire)],
    [
      'expired_late',
      'expired',
      (payment) =>
        expire()
          .then(() => stage.send(payment, 1))
          .then(confirm),
    ],
    ['invalid', 'error', (payment) => stage.send(payment, 1, 'TRX').then(confirm).then(expire)],
    [
      'reversed',
      'error',
      async (payment) => {
        await stage.send(payment, due(payment));
        await confirm();
        await expect.poll(async () => (await stage.verify(payment.id)).state).toBe('settled');
        await stage.sandbox('reorgs', { network: 'tron', depth: 10 });
      },
    ],
    ['cancelled', 'cancelled', cancel],
    [
      'cancelled_paid',
      'cancelled',
      (payment) =>
        cancel(payment)
          .then(() => stage.send(payment, due(payment)))
          .then(confirm),
    ],
  ];

test.each(endings)(
  'the ending %s stays: reload, Back, re-added, second tab, second device',
  async (state, ending, lead) => {
    const { payment, url } = await stage.createLocked('USDT', 'tron');
    await lead(payment);
    await expect.poll(async () => (await stage.verify(payment.id)).state, { timeout: 10_000 }).toBe(state);
    const before = await paymentCount();
    const context = await stage.context();
    const page = await stage.page({ context });
    const shows = async (shown: Page) => {
      const checkout = checkoutOn(shown);
      await checkout.reach(ending);
      expect(await checkout.part('address').count()).toBe(0);
    };
    await page.goto(url);
    await shows(page);
    await page.reload();
    await shows(page);
    await page.goto('about:blank');
    await page.goBack();
    await shows(page);
    await page.evaluate(() => {
      const element = document.querySelector('crypto-checkout');
      const parent = element?.parentElement;
      element?.remove();
      if (element) parent?.append(element);
    });
    await shows(page);
    const tab = await stage.page({ context });
    await tab.goto(url);
    await shows(tab);
    const device = await stage.page();
    await device.goto(url);
    await shows(device);
    expect(await paymentCount(), 'no second payment without a press').toBe(before);
  },
);
