/** Every state of a payment on both pages: no axe violation, nothing beyond the edge, light and dark, narrow and wide. */
import { expect, test } from 'vitest';
import { checkoutOn, orderAt, type Checkout } from './checkout.js';
import { inspect, useStage } from './stage.js';

// Blocks come on request, so that no state passes while it is inspected.
const stage = useStage({ blockIntervalMs: 0 });

/** From the pickers to the address, inspecting each step. */
async function chooseSlowly(checkout: Checkout, name: string): Promise<void> {
  const page = checkout.element.page();
  await checkout.reach('choosing-currency');
  await inspect(page, `${name}-choosing-currency`);
  await checkout.element.getByRole('radio', { name: /^Tether/ }).click();
  await checkout.reach('choosing-network');
  await inspect(page, `${name}-choosing-network`);
  await checkout.element.getByRole('radio', { name: /^Tron/ }).click();
  await checkout.reach('awaiting-funds');
  await checkout.part('qr').waitFor();
  await checkout.part('exchange').locator('summary').click();
  await checkout.part('time-log').locator('summary').click();
  await inspect(page, `${name}-awaiting-funds`);
}

test('the demo shop, from the order to success', async () => {
  const page = await stage.page();
  const shop = await orderAt(stage.server.url, page);
  await inspect(page, 'demo-idle');
  await shop.act();
  await chooseSlowly(shop, 'demo');
  await shop.simulate('half');
  await shop.reach('partially-paid');
  await inspect(page, 'demo-partially-paid');
  await shop.simulate('exact');
  await shop.reach('confirming');
  await inspect(page, 'demo-confirming');
  await shop.simulate('mine');
  await shop.simulate('mine');
  await shop.reach('success');
  expect(await shop.verdict()).toMatch(/^Deliver the order/);
  await inspect(page, 'demo-success');
});

test('a hosted page, from the link to success', async () => {
  const { payment, url } = await stage.create({
    customer: { email: 'ada@example.com', name: '<b>"Ada" & co</b>' },
  });
  const page = await stage.page();
  await page.goto(url);
  const checkout = checkoutOn(page);
  await chooseSlowly(checkout, 'hosted');
  const locked = await stage.verify(payment.id);
  await stage.send(locked, '0.5');
  await checkout.reach('partially-paid');
  await inspect(page, 'hosted-partially-paid');
  await stage.send(locked, (await stage.verify(payment.id)).amountDue ?? 0);
  await checkout.reach('confirming');
  await inspect(page, 'hosted-confirming');
  await stage.sandbox('blocks', { network: 'tron', count: 2 });
  await checkout.reach('success');
  await inspect(page, 'hosted-success');
});

test('hosted pages of payments that ended otherwise, opened later', async () => {
  const page = await stage.page();
  const checkout = checkoutOn(page);
  const cancelled = await stage.create();
  await stage.merchant.payments.cancel({ params: { payment_id: cancelled.payment.id } });
  await page.goto(cancelled.url);
  await checkout.reach('cancelled');
  await inspect(page, 'hosted-cancelled');

  const expired = await stage.createLocked('BTC', 'bitcoin');
  const wrong = await stage.createLocked('TRX', 'tron');
  await stage.send(wrong.payment, '5', 'USDT');
  await stage.sandbox('blocks', { network: 'tron', count: 2 });
  await stage.sandbox('clock', { advanceSeconds: 3600 });
  for (const { payment, url, name } of [
    { ...expired, name: 'expired' as const },
    { ...wrong, name: 'error' as const },
  ]) {
    await expect.poll(async () => (await stage.verify(payment.id)).status, { timeout: 10_000 }).toBe('error');
    await page.goto(url);
    await checkout.reach(name);
    await inspect(page, `hosted-${name}`);
  }
});

test('a payment that cannot start says so, and starts at the next try', async () => {
  const page = await stage.page({ expectedErrors: /ERR_CONNECTION_REFUSED|network_error/ });
  const shop = await orderAt(stage.server.url, page);
  await page.route('**/v1/payments/checkout', (route) => route.abort('connectionrefused'));
  await shop.act();
  await shop.reach('error');
  await inspect(page, 'demo-failed-to-start');
  await page.unroute('**/v1/payments/checkout');
  await shop.act();
  await shop.reach('choosing-currency');
});

test('nobody is shown a payment that does not exist', async () => {
  const page = await stage.page({ expectedErrors: /404/ });
  const response = await page.goto(`${stage.server.url}/pay/${'0'.repeat(26)}`);
  expect(response?.status()).toBe(404);
  await page.getByRole('heading', { name: 'Payment not found' }).waitFor();
  await inspect(page, 'hosted-not-found');
});
