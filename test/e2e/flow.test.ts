/**
 * The checkout's promises to a payer: few taps, everything visible, and no jumps. `lasting-endings.soak.test.ts` has
 * one more.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserContext } from 'playwright-core';
import { expect, test } from 'vitest';
import { checkoutOn, orderAt, type Checkout } from './checkout.js';
import { useStage } from './stage.js';

const stage = useStage({ blockIntervalMs: 0 });

/** A phone: the visible part of 390 × 844 px without the browser's own bars. */
async function phone(): Promise<BrowserContext> {
  const context = await stage.browser.newContext({
    viewport: { width: 390, height: 664 },
    hasTouch: true,
    isMobile: true,
    locale: 'en-GB',
  });
  context.setDefaultTimeout(30_000);
  return context;
}

/** Taps an option, and counts it. */
function tapper(checkout: Checkout) {
  let taps = 0;
  return {
    get taps() {
      return taps;
    },
    async option(name: RegExp) {
      taps += 1;
      await checkout.element.getByRole('radio', { name }).click();
    },
    async action() {
      taps += 1;
      await checkout.act();
    },
  };
}

test('three taps lead from the pay button to the address, two where the coin has one network', async () => {
  for (const { coin, network, taps } of [
    { coin: /^Tether USD/, network: /^Tron/, taps: 3 },
    { coin: /^Litecoin/, network: undefined, taps: 2 },
  ]) {
    const shop = await orderAt(stage.server.url, await stage.page());
    const tap = tapper(shop);
    await tap.action();
    await shop.reach('choosing-currency');
    await tap.option(coin);
    if (network) await tap.option(network);
    await shop.reach('awaiting-funds');
    expect(tap.taps).toBe(taps);
  }
});

test('on a phone, amount, network and address are visible, and the QR code is one tap away, after a part too', async () => {
  const context = await phone();
  try {
    const { payment, url } = await stage.createLocked('USDT', 'tron');
    const page = await stage.page({ context });
    await page.goto(url);
    const checkout = checkoutOn(page);
    await checkout.reach('awaiting-funds');
    for (const name of ['asset', 'amount', 'address', 'copy-amount', 'copy-address']) {
      const box = await checkout.part(name).boundingBox();
      expect(box && box.y >= 0 && box.y + box.height, `${name} ends at`).toBeLessThanOrEqual(664);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    for (const part of [checkout.part('countdown'), checkout.part('qr-panel').locator('summary')]) {
      const box = await part.boundingBox();
      expect(box && box.y >= 0 && box.y + box.height).toBeLessThanOrEqual(844);
    }
    await page.setViewportSize({ width: 390, height: 664 });
    // The hosted page lets the checkout show it, above everything.
    expect(
      await page
        .getByText(/^Test mode/)
        .filter({ visible: true })
        .count(),
    ).toBe(1);
    const isOpen = () => checkout.part('qr-panel').evaluate((panel) => (panel as HTMLDetailsElement).open);
    expect(await isOpen()).toBe(false);
    await page.setViewportSize({ width: 700, height: 390 });
    await stage.send(payment, '5');
    await checkout.reach('partially-paid');
    expect(await isOpen(), 'turned, and after a part').toBe(false);
    await page.setViewportSize({ width: 390, height: 664 });
    await page.reload();
    await checkout.reach('partially-paid');
    expect(await isOpen(), 'after a reload').toBe(false);
    // The page moves until its last part has come, and a tap could miss.
    await checkout.part('time-log').waitFor();
    await checkout.part('qr-panel').locator('summary').tap();
    await checkout.part('qr').waitFor();
  } finally {
    await context.close();
  }
});

test('on a desktop, the QR code is next to amount, address and time, and all of it is 700 px tall at most', async () => {
  const { url } = await stage.createLocked('USDT', 'tron');
  const page = await stage.page();
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(url);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  await checkout.part('qr').waitFor();
  await checkout.part('time-log').waitFor();
  const boxOf = async (name: string) => {
    const box = await checkout.part(name).boundingBox();
    if (!box) throw new Error(`${name} is not drawn`);
    return box;
  };
  const [card, qr, amount] = await Promise.all([boxOf('card'), boxOf('qr'), boxOf('amount')]);
  expect(card.height).toBeLessThanOrEqual(700);
  expect(qr.x + qr.width).toBeLessThan(amount.x);
  for (const name of ['qr', 'amount', 'address', 'countdown', 'action', 'check-now']) {
    const { y, height } = await boxOf(name);
    expect(y + height, `${name} ends at`).toBeLessThanOrEqual(800);
  }
});

test.each([390, 1280])('at %d px, nothing jumps from the lock to success', async (width) => {
  const { payment, url } = await stage.createLocked('USDT', 'tron');
  const page = await stage.page();
  await page.setViewportSize({ width, height: 800 });
  await page.goto(url);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  await checkout.part('qr').waitFor();
  await checkout.part('time-log').waitFor();
  await page.evaluate(() => {
    const shifts = { total: 0 };
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number;
        hadRecentInput: boolean;
      })[])
        if (!entry.hadRecentInput) shifts.total += entry.value;
    }).observe({ type: 'layout-shift' });
  });
  await stage.send(payment, '5');
  await checkout.reach('partially-paid');
  await stage.send(payment, (await stage.verify(payment.id)).amountDue ?? 0);
  await checkout.reach('confirming');
  await stage.sandbox('blocks', { network: 'tron', count: 1 });
  await stage.sandbox('blocks', { network: 'tron', count: 1 });
  await checkout.reach('success');
  const total = await page.evaluate(() => (window as unknown as { shifts: { total: number } }).shifts.total);
  expect(total).toBeLessThanOrEqual(0.05);
});

test('at 320 px, the list keeps its place while the rate is locked, and the tapped row turns', async () => {
  const { url } = await stage.create();
  const page = await stage.page();
  await page.setViewportSize({ width: 320, height: 640 });
  let release: () => void = () => undefined;
  const looked = new Promise<void>((resolve) => (release = resolve));
  // Browsers count no shift soon after a tap: each step takes longer than that, and the lock until it was looked at.
  await page.route(/\/currency\/(set|lock)/, async (route) => {
    await delay(900);
    if (route.request().url().includes('/currency/lock')) await looked;
    await route.continue();
  });
  await page.goto(url);
  const checkout = checkoutOn(page);
  await checkout.reach('choosing-currency');
  await checkout.element.getByRole('radio', { name: /^Tether/ }).click();
  await checkout.reach('choosing-network');
  const options = checkout.part('options').first();
  const before = await options.boundingBox();
  await page.evaluate(() => {
    const shifts = { total: 0 };
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number;
        hadRecentInput: boolean;
      })[])
        if (!entry.hadRecentInput) shifts.total += entry.value;
    }).observe({ type: 'layout-shift' });
  });
  await checkout.element.getByRole('radio', { name: /^Tron/ }).click();
  await checkout.reach('locking');
  expect(await checkout.part('heading').innerText()).toBe('Locking your rate…');
  expect((await options.boundingBox())?.height).toBe(before?.height);
  const turning = () =>
    checkout.element.evaluate((element) => {
      const rows = [...(element.shadowRoot?.querySelectorAll('.option') ?? [])];
      const isTurning = (row: Element) => getComputedStyle(row, '::after').borderTopLeftRadius === '50%';
      return rows.filter(isTurning).map((row) => row.querySelector('input')?.value);
    });
  expect(await turning()).toEqual(['tron']);
  const moved = () => page.evaluate(() => (window as unknown as { shifts: { total: number } }).shifts.total);
  expect(await moved()).toBeLessThanOrEqual(0.05);
  release();
  await checkout.reach('awaiting-funds');
});

test('"Check now" shows its result, with the time', async () => {
  const { url } = await stage.createLocked('USDT', 'tron');
  const checkout = checkoutOn(await stage.page());
  await checkout.element.page().goto(url);
  await checkout.reach('awaiting-funds');
  await checkout.part('check-now').click();
  await checkout
    .part('check')
    .filter({ hasText: /Nothing seen yet, checked \d{1,2}:\d\d:\d\d/ })
    .waitFor();
  expect(await checkout.part('check').getAttribute('aria-live')).toBe('polite');
});

test('a wrong coin is shown immediately, by name and amount, and the payment continues', async () => {
  const { payment, url } = await stage.createLocked('TRX', 'tron');
  const page = await stage.page();
  await page.setViewportSize({ width: 1280, height: 800 });
  const checkout = checkoutOn(page);
  await page.goto(url);
  await checkout.reach('awaiting-funds');
  await checkout.part('time-log').waitFor();
  await stage.send(payment, '5', 'USDT');
  await checkout.part('wrong-asset').waitFor();
  expect((await checkout.part('card').boundingBox())?.height).toBeLessThanOrEqual(700);
  expect((await checkout.part('wrong-asset').innerText()).replaceAll('\u00a0', ' ')).toContain(
    '5.00 USDT on Tron arrived, but this payment takes TRX on Tron.',
  );
  expect(await checkout.part('address').count()).toBe(1);
});
