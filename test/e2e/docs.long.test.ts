/** The docs in a browser: read by everybody, by keyboard, searched, and only from this server. */
import { expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { inspect, useStage } from './stage.js';

const stage = useStage();

/** @param width of the window: the menu is folded away in a narrow one */
async function open(width = 1280, expectedErrors?: RegExp): Promise<Page> {
  const context = await stage.context();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await stage.page({ context, ...(expectedErrors && { expectedErrors }) });
  await page.setViewportSize({ width, height: 900 });
  return page;
}

it.each(['/api/payments', '/operations', '/going-live', '/moving-coins', '/api-decisions', '/api'])(
  '/docs%s is clean for axe and stays within its edges, wide and narrow, light and dark',
  async (path) => {
    const page = await open();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).origin));
    await page.goto(`${stage.server.url}/docs${path}`);
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    for (const width of [320, 640, 960, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow, `pixels beyond the edge at ${width} px`).toBeLessThanOrEqual(0);
    }
    await inspect(page, 'docs');
    expect(new Set(asked.filter((origin) => origin !== 'null'))).toEqual(new Set([stage.server.url]));
  },
);

it('The docs can be read by keyboard: past the menu, and to an endpoint by the search', async () => {
  const page = await open();
  await page.goto(`${stage.server.url}/docs`);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');

  await page.keyboard.press('/');
  await page.keyboard.type('patch currency lock');
  await page.getByRole('status').getByText('place').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/api/payments#lock-currency');
  const heading = page.getByRole('heading', { name: 'Lock currency' });
  await heading.waitFor();
  await expect.poll(async () => (await heading.boundingBox())?.y ?? 0).toBeLessThan(200);
  await page.locator('nav a[aria-current="location"]', { hasText: 'Lock currency' }).waitFor();
});

it('The menu shows which page and section is being read, after a jump too', async () => {
  const page = await open();
  await page.goto(`${stage.server.url}/docs/retention`);
  const isSeen = (selector: string) =>
    page.locator(`nav a[aria-current="${selector}"]`).evaluate((link) => {
      const { top, bottom } = link.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
  await expect.poll(() => isSeen('page')).toBe(true);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.locator('nav a[aria-current="location"]', { hasText: 'Export of payments' }).waitFor();
  await expect.poll(() => isSeen('location')).toBe(true);
});

it('The search finds words in the text of all pages', async () => {
  const page = await open();
  await page.goto(`${stage.server.url}/docs/webhooks`);
  const first = page.getByRole('search').getByRole('link').first();
  for (const [words, place] of [
    ['overpaid', 'docs/api-decisions#underpaid-overpaid-late'],
    ['csp', 'docs/installation#content-security-policy-csp'],
    ['sri hash', 'docs/script-hashes'],
    ['rate_limited', 'docs/errors#rate_limited'],
    ['create payment', 'docs/create-a-payment'],
    ['gap limit', 'docs/deposit-keys#the-gap-limit'],
  ] as const) {
    await page.getByRole('searchbox', { name: 'Search the docs' }).fill(words);
    await expect
      .poll(() => first.evaluate((link) => (link as HTMLAnchorElement).href), { message: words })
      .toBe(`${stage.server.url}/${place}`);
  }
});

it('The search says that it is running while the index loads, and tries again after a failure', async () => {
  const page = await open(1280, /ERR_FAILED/);
  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let isOffline = true;
  await page.route('**/docs-index.js*', async (route) => {
    await held;
    await (isOffline ? route.abort() : route.continue());
  });
  await page.goto(`${stage.server.url}/docs`);
  await page.getByRole('searchbox', { name: 'Search the docs' }).fill('gap lim');
  const status = page.getByRole('search').getByRole('status');
  await status.getByText('Searching…').waitFor();
  letGo();
  await status.getByText('could not be loaded').waitFor();
  isOffline = false;
  await page.keyboard.type('it');
  await status.getByText('place').waitFor();
}, 20_000);

it("The examples show the reader's test keys in this tab, and no live key", async () => {
  const page = await open();
  await page.goto(`${stage.server.url}/docs`);
  const field = page.getByLabel('Your test key, for the examples');
  const tag = page.locator('pre', { hasText: '<crypto-checkout' });
  await field.fill(`sk_live_${'a'.repeat(43)}`);
  await page.getByText('A test key begins with').waitFor();
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  await field.fill(stage.server.publicKey);
  expect(await tag.textContent()).toContain(`public-key="${stage.server.publicKey}"`);
  const secret = `sk_test_${'b'.repeat(43)}`;
  await field.fill(secret);
  await page.goto(`${stage.server.url}/docs/create-a-payment`);
  const call = page.locator('pre').first();
  expect(await call.textContent()).toContain(`"${stage.server.url}/v1/payments/checkout"`);
  expect(await call.textContent()).toContain(`Bearer ${secret}`);
  await page.goto(`${stage.server.url}/docs/api/customers`);
  expect(await page.locator('.sample').first().textContent()).toContain(`Bearer ${secret}`);
  await field.fill('');
  expect(await page.locator('.sample').first().textContent()).toContain('$SECRET_KEY');
});

it('The docs work without script, with links to other pages and without a search', async () => {
  const context = await stage.browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${stage.server.url}/docs`);
  await page.getByRole('link', { name: 'Webhooks' }).first().click();
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  expect(await page.getByRole('searchbox').count()).toBe(0);
  await context.close();
});

it('A call is copied as written, and the code of a guide too', async () => {
  const page = await open();
  await page.goto(`${stage.server.url}/docs/api/customers`);
  await page.getByRole('button', { name: 'Copy Create customer: Request' }).click();
  await page.getByRole('button', { name: 'Copied Create customer: Request' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(
    [
      `curl -X POST "${stage.server.url}/v1/customers"`,
      '-H "Authorization: Bearer $SECRET_KEY"',
      '-H "Content-Type: application/json"',
      `-d '${JSON.stringify({ email: 'ada@example.com', fullName: 'Ada Example', phoneNumber: '+15550100' }, null, 2)}'`,
    ].join(' \\\n  '),
  );
  await page.goto(`${stage.server.url}/docs`);
  await page.getByRole('button', { name: 'Copy Five-minute start: code' }).nth(2).click();
  await page.getByRole('button', { name: 'Copied Five-minute start: code' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
    `<script type="module" src="${stage.server.url}/crypto-checkout.js"></script>\n<crypto-checkout`,
  );
});

it('The menu is folded away in a narrow window, and opens by key', async () => {
  const page = await open(320);
  // Its headings are long words.
  await page.goto(`${stage.server.url}/docs/errors`);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  await page.goto(`${stage.server.url}/docs/api/transfers`);
  const link = page.locator('nav a', { hasText: 'Quote fee' });
  expect(await link.isVisible()).toBe(false);
  await page.getByText('Menu', { exact: true }).focus();
  await page.keyboard.press('Enter');
  await link.click();
  await expect.poll(() => link.isVisible()).toBe(false);
  expect(new URL(page.url()).hash).toBe('#quote-fee');
});
