/** The storefront of `examples/` in a browser: from the cart to the order, and what a customer sees who leaves and comes back. */
import { mkdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { findHeadlessShell } from '../../../scripts/find-browser.mjs';
import type { Stage } from './stage.js';

const folder = fileURLToPath(new URL('../../../examples/vendure-storefront/', import.meta.url));
const screens = fileURLToPath(new URL('../../../.tmp/screens/', import.meta.url));
const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript' };

/** Serves the example, with this shop's address instead of the reader's. */
async function serve(shopUrl: string): Promise<{ url: string; server: Server }> {
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const name = pathname === '/' ? 'index.html' : pathname.slice(1);
    readFile(join(folder, name), 'utf8').then(
      (text) =>
        response
          .writeHead(200, { 'content-type': types[name.split('.').at(-1) ?? ''] ?? 'text/plain' })
          .end(text.replace('http://localhost:3000', shopUrl)),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return { url: `http://127.0.0.1:${port}/`, server };
}

/** `SCREENS=1` saves pictures of the pages that a test inspects. */
async function picture(page: Page, name: string): Promise<void> {
  if (env['SCREENS'] !== '1') return;
  await mkdir(screens, { recursive: true });
  await page.screenshot({ path: join(screens, `vendure-${name}.png`), fullPage: true });
}

const reach = (page: Page, status: string) => page.locator(`crypto-checkout[status="${status}"]`).waitFor();

async function choose(page: Page): Promise<void> {
  for (const [group, name] of [
    ['Currency', /^Tether/],
    ['Network', /^Tron/],
  ] as const) {
    await page.getByRole('radiogroup', { name: group }).getByRole('radio', { name }).click();
  }
  await reach(page, 'awaiting-funds');
}

async function buy(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByRole('button', { name: 'Buy: Lantern' }).click();
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Example');
  await page.getByLabel('Email').fill('ada@example.com');
  await page.getByLabel('Street').fill('1 Main Street');
  await page.getByLabel('Country').fill('US');
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await expect.poll(() => page.locator('main').innerHTML()).toContain('payment-id');
}

const idOn = async (page: Page) => (await page.locator('crypto-checkout').getAttribute('payment-id')) ?? '';
const orderOn = async (page: Page) => {
  const [, code = ''] = /Order (\S+):/.exec(await page.locator('main').innerText()) ?? [];
  return code;
};

export function testBrowser(stage: Stage): void {
  let browser: Browser;
  let storefront: { url: string; server: Server };
  const open = async (): Promise<BrowserContext> => {
    const context = await browser.newContext({ viewport: { width: 1000, height: 900 } });
    context.setDefaultTimeout(30_000);
    return context;
  };

  beforeAll(async () => {
    const { executablePath, args } = await findHeadlessShell();
    browser = await chromium.launch({ executablePath, args });
    storefront = await serve(stage.shop.url);
  });
  afterAll(async () => {
    await browser.close();
    storefront.server.close();
  });

  const transaction = async (id: string) =>
    (await stage.keys.client.transactions.verify({ params: { transaction_id: id } })).data;

  test('a customer buys, pays, sees the order paid, and sees its refund paid back', async () => {
    const context = await open();
    const page = await context.newPage();
    await buy(page, storefront.url);
    const [id, code] = [await idOn(page), await orderOn(page)];
    await choose(page);
    await picture(page, 'checkout');
    await stage.payer.send(await transaction(id));
    await reach(page, 'success');
    await page.getByRole('button', { name: 'See my order' }).click();
    await page.getByText('Paid: $24.50. Thank you!').waitFor();
    const [payment] = (await stage.admin.order(code)).payments;
    const { refundOrder } = await stage.admin.query(
      `mutation ($input: RefundOrderInput!) { refundOrder(input: $input) { ... on Refund { transactionId } } }`,
      z.object({ refundOrder: z.object({ transactionId: z.string() }) }),
      { input: { amount: 1000, paymentId: payment?.id ?? '', lines: [], shipping: 0, adjustment: 0 } },
    );
    await page.reload();
    await page.getByText('A refund of $10.00 is on its way.').waitFor();
    const { data } = await stage.keys.client.refunds.link({
      params: { refund_id: refundOrder.transactionId },
    });
    await stage.payer.claim(data.claimUrl ?? '', refundOrder.transactionId);
    const state = async () => (await stage.admin.order(code)).payments[0]?.refunds[0]?.state;
    await expect.poll(state).toBe('Settled');
    await page.reload();
    await page.getByText('A refund of $10.00 is paid back.').waitFor();
    await picture(page, 'order');
    await context.close();
  });

  test('a customer who left, and one with two tabs, continue with the same payment', async () => {
    const context = await open();
    const page = await context.newPage();
    await buy(page, storefront.url);
    await choose(page);
    const [id, code] = [await idOn(page), await orderOn(page)];
    await page.close();
    const tabs = [await context.newPage(), await context.newPage()];
    for (const tab of tabs) {
      await tab.goto(storefront.url);
      await reach(tab, 'awaiting-funds');
      expect(await idOn(tab)).toBe(id);
    }
    await stage.payer.send(await transaction(id));
    for (const tab of tabs) await tab.getByRole('button', { name: 'See my order' }).waitFor();
    const { state, payments } = await stage.admin.order(code);
    expect({ state, payments: payments.length }).toEqual({ state: 'PaymentSettled', payments: 1 });
    await context.close();
  });

  test('a customer who used another coin continues there after a reload, and sees the order paid', async () => {
    const context = await open();
    const page = await context.newPage();
    await buy(page, storefront.url);
    await choose(page);
    const [id, code] = [await idOn(page), await orderOn(page)];
    await page.getByRole('button', { name: 'Use another coin' }).click();
    await page.getByRole('button', { name: 'Yes, choose again' }).click();
    await reach(page, 'choosing-currency');
    await stage.payer.reach(id, 'cancelled');
    await choose(page);
    const attempt = async () => {
      const { data } = await stage.keys.client.transactions.list({ query: { txRef: `${code}:2` } });
      return data[0]?.id ?? '';
    };
    // As in another browser, which remembers only the cart.
    await page.evaluate(() => {
      for (const key of Object.keys(localStorage)) if (key !== 'vendure-token') localStorage.removeItem(key);
    });
    await page.reload();
    await reach(page, 'awaiting-funds');
    expect(await idOn(page)).toBe(await attempt());
    await stage.payer.send(await transaction(await attempt()));
    await page.getByRole('button', { name: 'See my order' }).click();
    await page.getByText('Paid: $24.50. Thank you!').waitFor();
    expect((await stage.admin.order(code)).payments).toMatchObject([{ transactionId: await attempt() }]);
    await context.close();
  });
}
