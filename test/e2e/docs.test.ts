/** The reference page in a browser: read by everybody, by keyboard, from this server alone. */
import { expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { inspect, useStage } from './stage.js';

const stage = useStage();

/** @param width of the window: the contents are folded away in a narrow one */
async function open(width = 1280): Promise<Page> {
  const context = await stage.context();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await stage.page({ context });
  await page.setViewportSize({ width, height: 900 });
  return page;
}

it('is clean for axe and stays within its edges, wide and narrow, light and dark', async () => {
  const page = await open();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).origin));
  await page.goto(`${stage.server.url}/docs`);
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
  for (const width of [320, 640, 960, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, `pixels beyond the edge at ${width} px`).toBeLessThanOrEqual(0);
  }
  // Its entries are all of one make: axe would take a minute for all of them.
  await page.evaluate(() => {
    for (const article of [...document.querySelectorAll('article')].slice(6)) article.remove();
  });
  await inspect(page, 'docs');
  expect(new Set(asked.filter((origin) => origin !== 'null'))).toEqual(new Set([stage.server.url]));
});

it('is read by keyboard: past the contents, and to an endpoint by its filter', async () => {
  const page = await open();
  await page.goto(`${stage.server.url}/docs`);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');

  await page.getByRole('searchbox', { name: 'Filter endpoints' }).focus();
  await page.keyboard.type('patch currency lock');
  await page.getByRole('status').getByText('1 entry').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(new URL(page.url()).hash).toBe('#payments-lock-currency');
  const heading = page.getByRole('heading', { name: 'Lock currency' });
  await heading.waitFor();
  await expect.poll(async () => (await heading.boundingBox())?.y ?? 0).toBeLessThan(200);
  await page.locator('nav a[aria-current]', { hasText: 'Lock currency' }).waitFor();
});

it('copies a call as it stands', async () => {
  const page = await open();
  await page.goto(`${stage.server.url}/docs#customers-create`);
  await page.getByRole('button', { name: 'Copy Create: Request' }).first().click();
  await page.getByRole('button', { name: 'Copied Create: Request' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(
    [
      `curl -X POST "${stage.server.url}/v1/customers"`,
      '-H "Authorization: Bearer $SECRET_KEY"',
      '-H "Content-Type: application/json"',
      `-d '${JSON.stringify({ email: 'ada@example.com', fullName: 'Ada Example', phoneNumber: '+15550100' }, null, 2)}'`,
    ].join(' \\\n  '),
  );
});

it('folds its contents away in a narrow window, and opens them by key', async () => {
  const page = await open(320);
  await page.goto(`${stage.server.url}/docs`);
  const link = page.locator('nav a', { hasText: 'Quote fee' });
  expect(await link.isVisible()).toBe(false);
  await page.getByText('Contents', { exact: true }).focus();
  await page.keyboard.press('Enter');
  await link.click();
  await expect.poll(() => link.isVisible()).toBe(false);
  expect(new URL(page.url()).hash).toBe('#transfers-quote-fee');
});
