/** The console at every width, with records as long as they may be: nothing is cut, covered or broken. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { misfitsOn } from './fitting.js';
import { long, makeLongData } from './long-data.js';
import { go, signInAs } from './staff.js';
import { useStageWithCommands } from './stage.js';

const { stage, env } = useStageWithCommands();

let data: Awaited<ReturnType<typeof makeLongData>>;
beforeAll(async () => {
  data = await makeLongData(stage, env());
}, 60_000);

const screens = fileURLToPath(new URL('../../.tmp/screens/', import.meta.url));
const widths = [320, 390, 768, 1024, 1280, 1366, 1920];

test('nothing is cut, covered or broken on any page, at any width, in light and dark', async () => {
  const page = await signInAs('owner', stage, env());
  const found = new Set<string>();
  for (const path of data.paths) {
    await go(page, path);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        const name = path.replace(/\W.*/, '');
        for (const one of await misfitsOn(page)) found.add(`${name}, ${width} px: ${one}`);
        if (process.env['SCREENS'] !== '1' || (colorScheme === 'dark' && ![320, 1280].includes(width)))
          continue;
        await mkdir(screens, { recursive: true });
        const picture = join(screens, `widths-${name}-${width}-${colorScheme}.png`);
        await page.screenshot({ path: picture, fullPage: true });
      }
    }
  }
  expect([...found]).toEqual([]);
}, 240_000);

test('a phone shows a record in two lines, and four entries of the menu', async () => {
  const page = await signInAs('owner', stage, env());
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of [
    'payments',
    'refunds',
    'money',
    'customers',
    'plans',
    'subscribers',
    'wallets',
    'developers',
  ]) {
    await go(page, path);
    const heights = await page
      .locator('main tbody tr', { has: page.locator('td:first-child > a') })
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
    expect(heights.length, path).toBeGreaterThan(0);
    expect(Math.max(...heights), path).toBeLessThanOrEqual(72);
  }
  const menu = page.getByRole('navigation', { name: 'Menu' });
  const names = await menu.getByRole('link').allInnerTexts();
  // With the number of things that wait.
  expect(names.map((name) => name.replace(/\s*\d+$/, ''))).toEqual(['Home', 'Payments', 'Refunds', 'Money']);
  await menu.getByRole('button', { name: 'More' }).click();
  await menu.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor();
  expect(await menu.getByRole('link', { name: 'Settings' }).isVisible()).toBe(false);
});

test('each dialog of a page fits on a narrow screen', { timeout: 240_000 }, async () => {
  const page = await signInAs('owner', stage, env());
  const opened = new Set<string>();
  const found: string[] = [];
  const dialog = page.getByRole('dialog');
  for (const path of data.paths) {
    // Wide enough for all buttons of a row.
    await page.setViewportSize({ width: 1920, height: 900 });
    await go(page, path);
    const main = page.locator('main');
    const named = main.getByRole('button', { name: /…$/, disabled: false });
    for (const name of await named.allInnerTexts()) {
      const key = `${path.replace(/\W.*/, '')}: ${name}`;
      if (opened.has(key)) continue;
      opened.add(key);
      await go(page, path);
      await main.getByRole('button', { name, exact: true }).first().click();
      await dialog.waitFor();
      await page.setViewportSize({ width: 320, height: 700 });
      const beyond = await dialog.evaluate((one) => one.scrollWidth - one.clientWidth);
      if (beyond > 0) found.push(`${key} is ${beyond} px too wide`);
      await page.setViewportSize({ width: 1920, height: 900 });
    }
  }
  expect(found).toEqual([]);
  expect(opened.size).toBeGreaterThan(30);
});

test.each([390, 1024, 1280, 1366])('a refund can be approved and declined at %i px', async (width) => {
  const page = await signInAs('manager', stage, env());
  await page.setViewportSize({ width, height: 900 });
  await go(page, 'refunds');
  const row = page.getByRole('row', { name: long.reference }).filter({ hasText: 'Waiting for approval' });
  const press = async (name: string) => {
    const button = row.getByRole('button', { name });
    if (!(await button.isVisible())) await row.getByRole('button', { name: 'More actions' }).click();
    // Playwright would scroll to it.
    const box = await button.boundingBox();
    expect(box && box.x + box.width).toBeLessThanOrEqual(width);
    await button.click();
  };
  await press('Approve…');
  await page.getByRole('heading', { name: /^Send 1,234.56/ }).waitFor();
  await page.keyboard.press('Escape');
  await press('Decline…');
  await page.getByRole('heading', { name: /^Decline the refund of 1,234.56/ }).waitFor();
});

test('a text that is cut is shown whole to the pointer and to the keyboard', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, 'payments');
  const row = page.getByRole('row', { name: long.reference });
  const payer = row.getByRole('cell', { name: long.email });
  const isCut = () => payer.evaluate((cell) => cell.scrollWidth > cell.clientWidth);
  expect(await isCut()).toBe(true);
  expect(await row.getByRole('link').getAttribute('title')).toContain(long.email);
  await page.getByRole('button', { name: 'New payment' }).focus();
  for (let presses = 0; presses < 10 && (await isCut()); presses += 1) await page.keyboard.press('Tab');
  expect(await isCut()).toBe(false);
  expect(await row.getByRole('link').evaluate((link) => link === document.activeElement)).toBe(true);
});
