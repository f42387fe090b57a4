/** The demo shop: the endings that `endings.test.ts` leaves out, and the button that plays them. */
import { expect, test } from 'vitest';
import { orderAt } from './checkout.js';
import { testEndings } from './endings.js';
import { useStage } from './stage.js';

const stage = useStage();

test('all endings play in some 40 s, each with its caption, and the button stops them', async () => {
  const page = await stage.page();
  await orderAt(stage.server.url, page);
  const caption = page.locator('.caption');
  const start = performance.now();
  await page.getByRole('button', { name: 'Play all endings' }).click();
  for (const name of ['Paid', 'Partial', 'Wrong coin', 'Late', 'Reversed', 'Over']) {
    await caption.filter({ hasText: new RegExp(`of 6\\. ${name}:`) }).waitFor();
  }
  await page.locator('[part="refund"]', { hasText: 'Refunded: 6.0588' }).waitFor();
  await page.getByRole('button', { name: 'Play all endings' }).waitFor();
  const seconds = (performance.now() - start) / 1000;
  console.log(`All endings: ${seconds.toFixed(1)} s`);
  expect(await page.locator('.failure').count()).toBe(0);
  const { data } = await stage.merchant.transactions.list({ query: { skip: 6 } });
  const states = data.map(({ status, state }) => `${status} ${state ?? ''}`.trim());
  expect(new Set(states).size).toBe(6);
  await page.locator('.clock').filter({ hasText: '30 min ahead' }).waitFor();

  await page.getByRole('button', { name: 'Play all endings' }).click();
  await caption.filter({ hasText: '1 of 6' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Play all endings' }).waitFor();

  await page.getByRole('button', { name: 'Delete the test payments and set it back' }).click();
  await expect.poll(() => page.locator('.clock').count(), { timeout: 20_000 }).toBe(0);
  await page.getByRole('button', { name: 'Play all endings' }).waitFor();
  expect((await stage.merchant.transactions.list({})).data.length).toBeLessThanOrEqual(1);
}, 120_000);

// Afterwards: each of them that waits for the deadline puts the shop's clock ahead.
testEndings(stage, [
  {
    title: 'nothing arrives in time',
    coin: ['Tether USD', 'Tron'],
    steps: ['deadline', 'expired'],
    state: 'expired',
    sentence: /Nothing arrived in time/,
  },
  {
    title: 'more than enough arrives',
    coin: ['USD Coin', 'Ethereum'],
    steps: ['over', 'success'],
    state: 'settled_over',
    sentence: /was due\. The shop has the excess/,
    delivers: true,
  },
  {
    title: 'a part arrives late',
    coin: ['BNB'],
    steps: ['deadline', 'expired', 'half'],
    state: 'expired_late',
    sentence: /came too late/,
  },
  {
    title: 'another coin arrives',
    coin: ['TRON'],
    steps: ['wrong', 'mine', 'mine', 'deadline', 'error'],
    state: 'invalid',
    sentence: /^The shop received .* instead of TRX/,
  },
]);
