/** The demo shop: the endings that `endings.long.test.ts` leaves out, and the button that plays them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { checkoutOn, orderAt } from './checkout.js';
import { heading, look, press } from './claim-page.js';
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
  await page.locator('[part="refund"]', { hasText: 'Refunded: 6.12' }).waitFor();
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

test('a person pays too much, claims the excess by the link, and gets it back, in well under a minute', async () => {
  const context = await stage.context();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await stage.page({ context });
  const shop = await orderAt(stage.server.url, page);
  const start = performance.now();
  await shop.act();
  await shop.choose('Tether USD', 'Tron');
  await shop.simulate('over');
  await shop.reach('success');
  await shop.simulate('claim');
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Copy an address and open it' }).click();
  const claim = await opened;
  await claim.getByRole('textbox', { name: 'Your address' }).focus();
  await claim.keyboard.press('Control+V');
  await press(claim, 'Continue');
  await press(claim, 'Yes, send it here');
  await heading(claim, 'Waiting for the shop');
  await page.bringToFront();
  await shop.simulate('claim');
  await claim.bringToFront();
  await look(claim);
  await heading(claim, 'Refund sent');
  const seconds = (performance.now() - start) / 1000;
  console.log(`Paid too much, and refunded by the link: ${seconds.toFixed(1)} s`);
  expect(seconds).toBeLessThan(60);
  await page.bringToFront();
  await page.locator('[part="refund"]', { hasText: 'Refunded: ' }).waitFor();
}, 120_000);

test('the tag, pasted into a page of one’s own, is paid by the simulator next to it', async () => {
  const context = await stage.context();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  // The second payment's reference is the first's with a counter, after a conflict.
  const page = await stage.page({ context, expectedErrors: /409 \(Conflict\)/ });
  const shop = await orderAt(stage.server.url, page);
  await page.locator('#tag').waitFor();
  await page.getByRole('button', { name: 'Copy tag' }).first().click();
  await page.getByText('Copied.').waitFor();
  const tag = await page.evaluate(() => navigator.clipboard.readText());
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-own-page-'));
  try {
    const file = join(directory, 'mine.html');
    await writeFile(file, `<!doctype html><meta charset="utf-8"><title>Mine</title>\n${tag}\n`);
    const own = await stage.page({ context });
    await own.goto(pathToFileURL(file).href);
    const pasted = checkoutOn(own);
    await pasted.act();
    await pasted.choose('Tether USD', 'Tron');

    await page.bringToFront();
    await page.locator('.simulator').hover();
    await page.getByText('The buttons play the payment that another page has started').waitFor();
    await shop.simulate('half');
    await pasted.reach('partially-paid');
    await shop.simulate('exact');
    await pasted.reach('success');
    await shop.verify();
    expect(await shop.verdict()).toMatch(/^Deliver the order/);

    // The card's own payment is newer, and is the one simulated from then on.
    await shop.reach('idle');
    await shop.act();
    await shop.choose('Tether USD', 'Tron');
    await page.getByText('Or play the wallet, the network and the clock yourself.').waitFor();
    await shop.simulate('exact');
    await shop.reach('success');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 120_000);

// These come last: each of them that waits for the deadline advances the shop's clock.
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
