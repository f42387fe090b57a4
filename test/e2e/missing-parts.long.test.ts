/** Chunks of the widget that fail to load: the payer sees it, can pay anyway, and the next attempt loads them. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { checkoutOn } from './checkout.js';
import { openShop, tagOf } from './shop-page.js';
import { useStage } from './stage.js';

const stage = useStage();
const expectedErrors = /Failed to load resource|network_error/;

/** Blocks the chunks of these names. @returns unblocks them */
async function block(page: Page, ...names: string[]): Promise<() => Promise<void>> {
  const chunks = new RegExp(`/chunks/(${names.join('|')})-[\\w-]{6}\\.js$`);
  await page.route(chunks, (route) => route.abort());
  return () => page.unroute(chunks);
}

test('the code of the payment: the button reports it, and the next press starts it', async () => {
  const page = await stage.page({ expectedErrors });
  const unblock = await block(page, 'flow');
  await openShop(stage, page, tagOf(stage, 'no-flow'));
  await page.evaluate(() => {
    const fired: string[] = [];
    document
      .querySelector('crypto-checkout')
      ?.addEventListener('checkout-error', (event) => fired.push(event.error?.code ?? ''));
    Object.assign(globalThis, { fired });
  });
  const checkout = checkoutOn(page);
  await checkout.act();
  await checkout.reach('error');
  expect(await checkout.part('error').innerText()).toContain(
    'No connection to the payment service. Try again.',
  );
  expect(await page.evaluate(() => Reflect.get(globalThis, 'fired') as string[])).toEqual(['network_error']);
  await unblock();
  await checkout.act();
  await checkout.reach('choosing-currency');
});

test('the QR code: amount and address are there to copy', async () => {
  const { payment } = await stage.createLocked('USDT', 'tron');
  const page = await stage.page({ expectedErrors });
  await block(page, 'qr-code');
  await openShop(stage, page, tag(payment.id));
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  await page.getByText('The QR code did not load.').waitFor();
  const address = (await checkout.part('address').innerText()).replaceAll(/\s/g, '');
  expect(address).toBe(payment.addressInformation?.address);
});

test('the endings: the page reports it, and shows the ending when they load', async () => {
  const { payment } = await stage.createLocked('USDT', 'tron');
  await stage.send(payment, payment.amountDue ?? 0);
  await expect.poll(async () => (await stage.verify(payment.id)).status, { timeout: 15_000 }).toBe('success');
  const page = await stage.page({ expectedErrors });
  const unblock = await block(page, 'after-qr');
  await openShop(stage, page, tag(payment.id));
  const checkout = checkoutOn(page);
  await page.locator('crypto-checkout[status=success]').waitFor();
  await expect.poll(() => checkout.part('action').innerText()).toBe('Try again');
  await unblock();
  await checkout.act();
  await checkout.part('receipt').waitFor();
});

test('the modal: the press only reports it to the page, and the next one opens it', async () => {
  const page = await stage.page({ expectedErrors });
  const unblock = await block(page, 'modal');
  await openShop(
    stage,
    page,
    tagOf(stage, 'no-modal').replace('<crypto-checkout', '<crypto-checkout mode="modal"'),
  );
  const trigger = checkoutOn(page).part('trigger');
  const error = page.evaluate(
    () =>
      new Promise((resolve) => {
        const element = document.querySelector('crypto-checkout');
        element?.addEventListener('checkout-error', (event) => resolve(event.error?.code));
      }),
  );
  await trigger.click();
  expect(await error).toBe('network_error');
  await unblock();
  await trigger.click();
  await checkoutOn(page).reach('choosing-currency');
});

function tag(paymentId: string): string {
  return `<crypto-checkout public-key="${stage.server.publicKey}" payment-id="${paymentId}"></crypto-checkout>`;
}
