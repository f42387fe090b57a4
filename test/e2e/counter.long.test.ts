/** The counter on a shop's tablet: an amount, a payment, a sound and a tick, and the next customer; and without a connection. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { checkoutOn } from './checkout.js';
import { signInAs } from './staff.js';
import { inspect, qrReader, useStageWithCommands } from './stage.js';

const screens = fileURLToPath(new URL('../../.tmp/screens/', import.meta.url));
const { stage, env } = useStageWithCommands({ blockIntervalMs: 200 });

const sizes = [
  { width: 1024, height: 768 },
  { width: 768, height: 1024 },
] as const;

/** Shows a state on a tablet, held in both ways, in both themes. @param isWhole all of it must be in view */
async function onTablet(page: Page, name: string, isWhole: boolean): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const size of sizes) {
      await page.setViewportSize(size);
      const beyond = await page.evaluate(() => ({
        x: document.documentElement.scrollWidth - innerWidth,
        y: document.documentElement.scrollHeight - innerHeight,
      }));
      expect(beyond.x, `${name}, ${size.width}`).toBeLessThanOrEqual(0);
      if (isWhole) expect(beyond.y, `${name}, ${size.width}`).toBeLessThanOrEqual(0);
      if (process.env['SCREENS'] !== '1') continue;
      await mkdir(screens, { recursive: true });
      await page.screenshot({ path: join(screens, `${name}-${size.width}-${colorScheme}.png`) });
    }
  }
}

async function openCounter(role = 'support'): Promise<Page> {
  const page = await signInAs(role, stage, env(), /40[0134]|INTERNET_DISCONNECTED/);
  await page.setViewportSize(sizes[0]);
  await page.goto(`${new URL(page.url()).origin}/console/counter?mode=test`);
  return page;
}

async function enter(page: Page, digits: string): Promise<void> {
  for (const digit of digits) await page.getByRole('button', { name: digit, exact: true }).click();
}

test('an employee enters an amount, the customer pays, a sound and a tick say so, and the next one comes', async () => {
  const page = await openCounter();
  await page.getByRole('button', { name: 'Charge' }).waitFor();
  await page.getByLabel('Currency').selectOption('USD');
  await enter(page, '2.0509');
  // Cents have no parts.
  await page.getByText('2.05 USD', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Erase' }).click();
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('0');
  await inspect(page, 'counter-amount');
  await onTablet(page, 'counter-amount', true);
  await page.setViewportSize(sizes[0]);
  await page.getByRole('button', { name: 'Charge 20 USD' }).click();

  const checkout = checkoutOn(page);
  await checkout.choose('Tether USD', 'Tron');
  const id = /#payment=(\w+)$/.exec(page.url())?.[1] ?? '';
  const payment = await stage.verify(id);
  expect(payment).toMatchObject({ baseAmount: 20, baseCurrency: 'USD' });
  const qr = checkout.part('qr');
  const read = await qrReader(stage);
  for (const size of sizes) {
    await page.setViewportSize(size);
    // Large, and in view without a scroll.
    const { y = 0, width = 0, height = 0 } = (await qr.boundingBox()) ?? {};
    expect(width).toBeGreaterThanOrEqual(260);
    expect(y + height).toBeLessThanOrEqual(size.height);
    expect(await read(await qr.screenshot())).toContain(payment.addressInformation?.address);
  }
  await onTablet(page, 'counter-payment', false);

  // A tablet that starts again shows the same payment.
  await page.reload();
  await checkout.reach('awaiting-funds');
  await page.getByRole('button', { name: 'Another amount' }).waitFor();
  await stage.send(payment, 20);
  await page.getByText('Paid', { exact: true }).waitFor();
  await inspect(page, 'counter-paid');
  await onTablet(page, 'counter-paid', true);
  await page.keyboard.press('Enter');
  await page.getByText('0 USD', { exact: true }).waitFor();
  expect(new URL(page.url()).hash).toBe('');

  // Without a reload, the page may sound.
  await enter(page, '5');
  await page.getByRole('button', { name: 'Charge 5 USD' }).click();
  await checkout.choose('Tether USD', 'Tron');
  const second = await stage.verify(/#payment=(\w+)$/.exec(page.url())?.[1] ?? '');
  await stage.send(second, 5);
  await page.locator('shop-counter[data-rung]').waitFor();
  await page.getByText('5 USD', { exact: true }).waitFor();
});

test('the counter opens without a connection, says so when it must ask, and continues when the connection is back', async () => {
  const page = await openCounter();
  await page.getByRole('button', { name: 'Charge' }).waitFor();
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  await page.context().setOffline(true);
  await page.reload();
  await enter(page, '7');
  await page.getByRole('button', { name: 'Charge 7 USD' }).click();
  await page.getByRole('alert').getByText('No connection').waitFor();
  await page.getByText('7 USD', { exact: true }).waitFor();
  await inspect(page, 'counter-offline');
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Charge 7 USD' }).click();
  await checkoutOn(page).reach('choosing-currency');

  // The browser keeps the page and its scripts: no reply of the server, and no key of its own.
  const kept = await page.evaluate(async () => {
    const cache = await caches.open('counter');
    const all = [];
    for (const { url } of await cache.keys()) all.push([url, (await (await cache.match(url))?.text()) ?? '']);
    return { all, stored: JSON.stringify(Object.entries(localStorage)) };
  });
  expect(kept.all.length).toBeGreaterThan(5);
  expect(kept.all.filter(([url]) => /\/(?:v1|api)\//.test(url ?? ''))).toEqual([]);
  expect(JSON.stringify(kept)).not.toContain(stage.server.secretKey);
  expect(JSON.stringify(kept)).not.toMatch(/sk_test_\w{8}/);
  // The console itself is not kept.
  const { origin } = new URL(page.url());
  const other = await page.context().newPage();
  await page.context().setOffline(true);
  await expect(other.goto(`${origin}/console/test/home`)).rejects.toThrow(/INTERNET_DISCONNECTED/);
});

test('a role that may make no payments cannot use the counter, and a stranger must sign in', async () => {
  const page = await openCounter('accountant');
  await page.getByText('Your role may not make payments.').waitFor();
  const stranger = await stage.page({ expectedErrors: /401/ });
  await stranger.goto(page.url());
  await stranger.getByRole('link', { name: 'Open the console' }).waitFor();
});

test('the counter asks for a sign-in when the session has ended before an amount is charged', async () => {
  const page = await openCounter();
  await page.getByRole('button', { name: 'Charge' }).waitFor();
  await enter(page, '3');
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Charge 3 USD' }).click();
  await page.getByRole('link', { name: 'Open the console' }).waitFor();
});
