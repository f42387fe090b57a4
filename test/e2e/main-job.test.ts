/** The main job: somebody pays, and page, API and shop agree on it within seconds. */
import { availableParallelism, loadavg } from 'node:os';
import { expect, test } from 'vitest';
import { checkoutOn, orderAt } from './checkout.js';
import { useStage } from './stage.js';

const stage = useStage({ needsWholeBrowser: true });
/** With a block every second, from the first click to the success on the page. */
const longestMs = 10_000;
/** On a machine with more than twice the work that its processors can do, everything takes longer. */
function limitMs(): number {
  const [load = 0] = loadavg();
  return longestMs * Math.max(1, load / (2 * availableParallelism()));
}

test('the demo shop is paid in USDT on Tron within 10 s', async () => {
  const page = await stage.page();
  const shop = await orderAt(stage.server.url, page);
  await page.getByLabel('Quantity').selectOption('2');
  await shop.part('total').filter({ hasText: '49.00' }).waitFor();
  await page.getByLabel('Price in').selectOption('NGN');
  await shop.part('total').filter({ hasText: '75,000.00' }).waitFor();
  await shop.reach('idle');
  const start = performance.now();
  await shop.act();
  await shop.choose('Tether USD', 'Tron');
  await shop.simulate('exact');
  await shop.reach('success');
  const elapsed = performance.now() - start;
  console.log(`Demo shop, from its button to success: ${(elapsed / 1000).toFixed(1)} s with a 1 s block`);
  expect(elapsed).toBeLessThan(limitMs());

  expect(await shop.verdict()).toMatch(/^Deliver the order/);
  expect(await shop.rules()).toEqual(['reference', 'mode', 'status', 'price', 'amount']);
  // With fast blocks the page may not have seen the state in between.
  const events = (await shop.events()).filter((name) => name !== 'checkout-confirming');
  expect(events).toEqual([
    'checkout-ready',
    'checkout-created',
    'checkout-currency-set',
    'checkout-locked',
    'checkout-detected',
    'checkout-success',
  ]);
  const { data } = await stage.merchant.transactions.list({});
  expect(data).toHaveLength(1);
  expect(data[0]).toMatchObject({
    status: 'success',
    baseAmount: 75_000,
    baseCurrency: 'NGN',
    currency: 'USDT',
  });
});

test('a hosted page is paid in USDT on Tron within 10 s', async () => {
  const { payment, url } = await stage.create();
  const page = await stage.page();
  const checkout = checkoutOn(page);
  const start = performance.now();
  await page.goto(url);
  await checkout.choose('Tether USD', 'Tron');
  const locked = await stage.verify(payment.id);
  expect(await checkout.address()).toBe(locked.addressInformation?.address);
  await stage.send(locked, locked.amountDue ?? 0);
  await checkout.reach('success');
  const elapsed = performance.now() - start;
  console.log(`Hosted page, from opening it to success: ${(elapsed / 1000).toFixed(1)} s with a 1 s block`);
  expect(elapsed).toBeLessThan(limitMs());
  expect(await page.title()).toBe('✓ Paid');
  expect((await stage.verify(payment.id)).status).toBe('success');
});

test('bitcoin is paid in two parts, and the page says what is left', async () => {
  const page = await stage.page();
  const shop = await orderAt(stage.server.url, page);
  await shop.act();
  await shop.choose('Bitcoin');
  const address = await shop.address();
  await shop.simulate('half');
  await shop.reach('partially-paid');
  const [payment] = (await stage.merchant.transactions.list({ query: { skip: 1 } })).data;
  const { amountSeen = 0, amountDue = 0, amount = 0 } = payment ?? {};
  expect(amountSeen).toBeGreaterThan(0);
  expect(amountDue).toBeGreaterThan(0);
  expect(amountDue).toBeLessThan(amount);
  expect(await shop.sentence()).toContain(`${amountSeen} BTC seen`);
  expect(await shop.part('amount').innerText()).toContain(String(amountDue));
  expect(await shop.address()).toBe(address);

  await shop.verify();
  expect(await shop.rules()).toEqual(['reference', 'mode', 'price']);
  await shop.simulate('exact');
  await shop.reach('success');
  await expect.poll(() => shop.rules()).toHaveLength(5);
  expect(await shop.events()).toContain('checkout-partial');
});
