/**
 * The shop's time zone in the console, read in a browser of another one: times, days and periods are the shop's.
 *
 * Reported elsewhere as https://github.com/btcpayserver/btcpayserver/issues/6345 and 6756 (two zones on one page),
 * https://github.com/woocommerce/woocommerce-ios/issues/14038 (“today” of the device, not of the shop), and
 * https://github.com/umbraco/Umbraco.Commerce.Issues/issues/406 (filters in UTC, times in another zone).
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { misfitsOn } from './fitting.js';
import { go, signInAs } from './staff.js';
import { schemesThatFit, useStageWithCommands } from './stage.js';

const { stage, env } = useStageWithCommands();

const screens = fileURLToPath(new URL('../../.tmp/screens/', import.meta.url));
const zone = 'Asia/Kolkata';
const day = 86_400;
const order = (txRef: string) => stage.create({ txRef });

async function clock(): Promise<number> {
  const { data } = await stage.merchant.transactions.list({ query: { skip: 1 } });
  return Date.parse(data[0]?.createdAt ?? '');
}

beforeAll(async () => {
  await order('EARLIER');
  // To 00:35 in Kolkata, on a day at least 40 days later: it is still yesterday in UTC, and in the browser.
  const now = await clock();
  const midnight = Math.ceil((now / 1000 + 40 * day) / day) * day - 5.5 * 3600;
  await stage.sandbox('clock', { advanceSeconds: Math.round(midnight - 1500 - now / 1000) });
  await order('YESTERDAY');
  await stage.sandbox('clock', { advanceSeconds: 3600 });
  await order('TODAY');
}, 60_000);

async function signIn(): Promise<Page> {
  const context = await stage.browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'America/Los_Angeles',
  });
  return signInAs('owner', stage, env(), undefined, context);
}

const references = async (page: Page) =>
  (await page.locator('tbody td:first-child').allInnerTexts()).map((text) => text.trim());
const period = (page: Page) => page.getByRole('combobox', { name: 'Period' });

test('an owner chooses the zone, every page names it, and times are shown in it', async () => {
  const page = await signIn();
  await page.getByText('Times and days: UTC', { exact: true }).waitFor();
  await go(page, 'settings');
  await page.getByRole('button', { name: 'Change the zone…' }).click();
  await page.getByText('This browser is in America/Los_Angeles.').waitFor();
  await page.getByRole('combobox', { name: 'The shop’s time zone' }).selectOption(zone);
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText(`Times and days: ${zone} (UTC+05:30)`).waitFor();
  await page.getByRole('link', { name: 'Payments', exact: true }).click();
  const row = page.getByRole('row', { name: 'TODAY' });
  await row.getByText(/12:3\d\sAM/).waitFor();
  expect(await row.locator('time').getAttribute('title')).toMatch(/^Asia\/Kolkata; .* 19:0\d:\d\d UTC$/);
  await page.getByText(`Times and days: ${zone} (UTC+05:30)`).waitFor();
  await go(page, 'home');
  await page.getByText(`Times and days: ${zone} (UTC+05:30)`).waitFor();
});

test('today begins at the shop’s midnight, and a link to it stays one to today', async () => {
  const page = await signIn();
  // At once, before any reply has brought the time of the test clock.
  await go(page, 'payments?days=today');
  expect(await references(page)).toEqual(['TODAY']);
  await go(page, 'payments');
  await period(page).selectOption('Last 7 days');
  await expect.poll(() => references(page)).toEqual(['TODAY', 'YESTERDAY']);
  expect(new URL(page.url()).search).toBe('?days=7-days');
  await page.reload();
  expect(await period(page).inputValue()).toBe('7-days');
  await period(page).selectOption('Any time');
  await expect.poll(() => references(page)).toEqual(['TODAY', 'YESTERDAY', 'EARLIER']);
  expect(new URL(page.url()).search).toBe('');
});

test('own days begin with those that were seen last, and both are whole', async () => {
  const page = await signIn();
  await go(page, 'payments?days=today');
  await period(page).selectOption('From … until …');
  const from = page.getByRole('textbox', { name: 'From' });
  const today = await from.inputValue();
  expect(today).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(await references(page)).toEqual(['TODAY']);
  const yesterday = new Date(Date.parse(today) - day * 1000).toISOString().slice(0, 10);
  await from.fill(yesterday);
  await from.blur();
  await expect.poll(() => references(page)).toEqual(['TODAY', 'YESTERDAY']);
  const until = page.getByRole('textbox', { name: 'Until' });
  await until.fill(yesterday);
  await until.blur();
  await expect.poll(() => references(page)).toEqual(['YESTERDAY']);
  await page.goBack();
  await expect.poll(() => references(page)).toEqual(['TODAY', 'YESTERDAY']);
});

test('the audit log and the books have the same periods', async () => {
  const page = await signIn();
  await go(page, 'audit?days=last-month');
  await page.getByText('Nothing matches these filters.').waitFor();
  await go(page, 'books');
  expect(await period(page).inputValue()).toBe('last-month');
  expect(await page.getByLabel('Time zone').inputValue()).toBe(zone);
  await period(page).selectOption('This month');
  await page.getByText('This period is not over').waitFor();
  await go(page, 'books?month=2026-03&zone=UTC');
  expect(await page.getByRole('textbox', { name: 'From' }).inputValue()).toBe('2026-03-01');
  expect(await page.getByRole('textbox', { name: 'Until' }).inputValue()).toBe('2026-03-31');
  expect(await page.getByLabel('Time zone').inputValue()).toBe('UTC');
});

test('an invoice is due at the end of a day of the shop, for its staff and for its payer', async () => {
  const page = await signIn();
  await go(page, 'links');
  await page.getByRole('button', { name: 'New payment link…' }).click();
  const dialog = page.getByRole('dialog');
  const fill = (name: string, value: string) => dialog.locator(`[name=${name}]`).fill(value);
  await fill('title', 'Invoice of Kolkata');
  await fill('lines', 'Lamp; 1; 12');
  await fill('dueAt', '2999-12-30');
  await fill('expiresAt', '2999-12-31');
  expect(await dialog.getByText(`The end of this day in ${zone}.`).count()).toBe(2);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Invoice of Kolkata', level: 1 }).waitFor();
  const read = async () => {
    const { data } = await stage.merchant.links.list({});
    return data.find(({ title }) => title === 'Invoice of Kolkata');
  };
  const made = { dueAt: '2999-12-30T18:29:59.999Z', expiresAt: '2999-12-31T18:29:59.999Z' };
  expect(await read()).toMatchObject(made);
  await page.getByRole('button', { name: 'Change…' }).click();
  expect(await dialog.locator('[name=dueAt]').inputValue()).toBe('2999-12-30');
  await fill('expiresAt', '');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect.poll(read).toMatchObject({ ...made, expiresAt: null });
  const answer = await fetch(`${stage.server.url}/l/${(await read())?.slug ?? ''}`);
  expect(await answer.text()).toMatch(/Due by [^<]*30[^<]*2999[^<]* Asia\/Kolkata/);
});

test('a receipt’s text has the shop’s day of the transfer, not that of UTC or of the browser', async () => {
  const { payment } = await stage.createLocked('USDT', 'tron');
  await stage.send(payment, payment.amount ?? 0);
  await stage.sandbox('blocks', { network: 'tron', count: 30 });
  await vi.waitFor(async () => expect((await stage.verify(payment.id)).state).toBe('settled'), 20_000);
  const { receipts = [] } = await stage.verify(payment.id);
  const seen = Date.parse(receipts[0]?.firstSeenAt ?? '');
  const [inUtc, inShop] = [seen, seen + 5.5 * 3_600_000].map((time) => new Date(time).getUTCDate());
  expect(inShop).not.toBe(inUtc);
  const page = await signIn();
  await go(page, `payment/${payment.id}`);
  await page.getByRole('button', { name: 'Receipt…' }).click();
  const text = await page.getByRole('dialog').getByText('Receipt for ').innerText();
  expect(text).toMatch(new RegExp(` on Tron on \\w{3} ${inShop}, \\d{4}\\. http`));
});

test('periods fit on every width', async () => {
  const page = await signIn();
  const found = new Set<string>();
  for (const path of ['payments?days=custom', 'audit?days=month', 'books?days=custom', 'home', 'settings']) {
    await go(page, path);
    for (const colorScheme of schemesThatFit) {
      await page.emulateMedia({ colorScheme });
      for (const width of [320, 390, 768, 1280, 1920]) {
        await page.setViewportSize({ width, height: 900 });
        for (const one of await misfitsOn(page)) found.add(`${path}, ${width} px: ${one}`);
        if (process.env['SCREENS'] !== '1') continue;
        await mkdir(screens, { recursive: true });
        const name = `time-${path.replace(/\W.*/, '')}-${width}-${colorScheme}.png`;
        await page.screenshot({ path: join(screens, name), fullPage: true });
      }
    }
  }
  expect([...found]).toEqual([]);
});
