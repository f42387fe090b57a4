/** The checkout under the conditions of real pages: other origins, strict policies, keyboards, wrong clocks, bad networks. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { checkoutOn, orderAt, shopOn } from './checkout.js';
import { inspect, useStage } from './stage.js';

const stage = useStage({ blockIntervalMs: 250 });
const merchants: Server[] = [];

afterAll(() => merchants.forEach((server) => server.close()));

const build = fileURLToPath(new URL('../../dist/script/', import.meta.url));

/** The name of the widget's script, which has its version in it. */
const widgetScript = readdirSync(build).find((name) => /^crypto-checkout-[\d.]+\.js$/.test(name));

/** A merchant's own site on another origin than the API, with its own policy and a copy of the widget. */
async function merchantSite(policy: string, page: string): Promise<string> {
  const server = createServer(({ url = '/' }, response) => {
    if (url === '/') {
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy }).end(page);
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(readFileSync(join(build, url)));
  });
  merchants.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function merchantPage(script: string, attributes: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title>
    <link rel="icon" href="data:,"><script type="module" src="${script}"></script></head><body><main><h1>A shop</h1>
    <crypto-checkout public-key="${stage.server.publicKey}" amount="12.50" base-currency="EUR" ${attributes}></crypto-checkout>
    </main></body></html>`;
}

/** The policy under which the checkout must work. */
const strictest = "script-src 'self'; style-src 'self'; require-trusted-types-for 'script'";

test.each([
  { title: 'its script from the API', isCopied: false },
  { title: 'a copy of its script on the merchant’s own server', isCopied: true },
])('a shop on another origin is paid under a strict policy, with $title', async ({ isCopied }) => {
  const { url } = stage.server;
  const reference = `elsewhere-${isCopied}`;
  const policy = isCopied
    ? strictest
    : `default-src 'none'; img-src data:; connect-src ${url}; ${strictest.replace("script-src 'self'", `script-src ${url}`)}`;
  const html = isCopied
    ? merchantPage(`/${widgetScript ?? ''}`, `tx-ref="${reference}" api-url="${url}"`)
    : merchantPage(`${url}/crypto-checkout.js`, `tx-ref="${reference}"`);
  const page = await stage.page();
  await page.goto(await merchantSite(policy, html));
  const checkout = checkoutOn(page);
  await checkout.act();
  await checkout.choose('Tether USD', 'Tron');
  await checkout.part('qr').waitFor();
  const [payment] = (await stage.merchant.transactions.list({ query: { skip: 1 } })).data;
  if (!payment) throw new Error('No payment was created');
  expect(payment.txRef).toBe(reference);
  expect(await checkout.address()).toBe(payment.addressInformation?.address);
  await stage.send(payment, payment.amountDue ?? 0);
  await checkout.reach('success');
  // Violations and errors in the console fail every test of this file.
});

test('the tag that the demo shop copies is paid on a page of another origin, as the switches were set', async () => {
  const context = await stage.context();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await stage.page({ context });
  const shop = await orderAt(stage.server.url, page);
  await page.getByLabel('Language').selectOption('fr');
  await page.getByLabel('Theme').selectOption('dark');
  await shop.element.getByText('Mode test').waitFor();
  await page.getByRole('button', { name: 'Copy tag' }).first().click();
  await page.getByText('Copied.').waitFor();
  const tag = await page.evaluate(() => navigator.clipboard.readText());
  expect(tag).toBe(await page.locator('#tag').textContent());

  const own = await stage.page();
  await own.goto(
    await merchantSite("base-uri 'none'", `<!doctype html><link rel="icon" href="data:,">${tag}`),
  );
  const checkout = checkoutOn(own);
  expect(await checkout.element.getAttribute('theme')).toBe('dark');
  await checkout.act();
  await checkout.element.getByRole('radio', { name: /^Litecoin/ }).click();
  await checkout.reach('awaiting-funds');
  const scheme = await checkout.element.evaluate((element) => {
    const card = element.shadowRoot?.querySelector('.card');
    return card ? getComputedStyle(card).colorScheme : '';
  });
  expect(scheme).toBe('dark');
  const [payment] = (await stage.merchant.transactions.list({ query: { skip: 1 } })).data;
  if (!payment) throw new Error('No payment was created');
  await stage.send(payment, payment.amountDue ?? 0);
  await checkout.reach('success');
});

test('a lantern is bought using only the keyboard', async () => {
  const page = await stage.page();
  const shop = await orderAt(stage.server.url, page);
  await press(page, /^Pay \$/, 'Enter');
  await shop.reach('choosing-currency');
  await press(page, /Tether USD/, 'Enter');
  await shop.reach('choosing-network');
  await press(page, /^Back$/, 'Enter');
  await shop.reach('choosing-currency');
  await press(page, /^Continue$/, 'Enter');
  await shop.reach('choosing-network');
  // Focus is at the first network. The arrows go through the networks, as in any group of radio buttons.
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  expect(await shop.element.getAttribute('status'), 'arrows choose nothing').toBe('choosing-network');
  await page.keyboard.press('Enter');
  await shop.reach('awaiting-funds');
  await press(page, /Pay exactly/, 'Enter');
  await shop.reach('success');
  expect(await shop.verdict()).toMatch(/^Deliver the order/);
});

/** Tabs to the control of this name, and presses a key there. */
async function press(page: Page, name: RegExp, key: string): Promise<void> {
  for (let tabs = 0; tabs < 60; tabs += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      if (!(element instanceof HTMLElement)) return '';
      const root = element.getRootNode() as Document | ShadowRoot;
      const labels = element.getAttribute('aria-labelledby')?.split(' ') ?? [];
      const label = labels.map((id) => root.getElementById(id)?.textContent ?? '').join(' ');
      return (element.getAttribute('aria-label') ?? (label || element.innerText)).trim();
    });
    if (!name.test(focused)) continue;
    await page.keyboard.press(key);
    return;
  }
  throw new Error(`No ${String(name)} within 60 tab stops`);
}

test('before the price is fixed, the payer may choose again', async () => {
  const page = await stage.page();
  const shop = await orderAt(stage.server.url, page);
  await shop.act();
  await shop.reach('choosing-currency');
  await shop.element.getByRole('radio', { name: 'Tether USD' }).click();
  await shop.reach('choosing-network');
  await shop.part('back').click();
  await shop.reach('choosing-currency');
  await shop.choose('Litecoin');
  expect(await shop.part('amount').innerText()).toMatch(/LTC$/);
  expect(await shop.events()).toEqual([
    'checkout-ready',
    'checkout-created',
    'checkout-currency-set',
    'checkout-locked',
  ]);
});

test('a reload and a second tab find the same payment, and create no second one', async () => {
  const total = async () =>
    (await stage.merchant.transactions.list({ query: { skip: 1 } })).pagination?.total ?? 0;
  const before = await total();
  const context = await stage.context();
  const page = await stage.page({ context });
  const shop = await orderAt(stage.server.url, page);
  await shop.act();
  await shop.reach('choosing-currency');
  await page.reload();
  await shop.choose('Tether USD', 'Tron');
  const address = await shop.address();
  await page.reload();
  await shop.reach('awaiting-funds');
  expect(await shop.address()).toBe(address);

  const second = await stage.page({ context });
  await second.goto(stage.server.url);
  const other = shopOn(second);
  await other.reach('awaiting-funds');
  expect(await other.address()).toBe(address);
  expect(await total()).toBe(before + 1);

  await shop.simulate('exact');
  await other.reach('success');
  await shop.reach('success');
  await page.reload();
  await shop.reach('success');
  expect(await total()).toBe(before + 1);
});

test.each([1, -1])('with the device’s clock wrong by %d day, the time left is right', async (days) => {
  const { payment, url } = await stage.createLocked('USDT', 'tron');
  const page = await stage.page();
  await page.addInitScript((shift) => {
    const { Date: RealDate } = globalThis;
    globalThis.Date = class extends RealDate {
      constructor(...given: unknown[]) {
        super(...((given.length === 0 ? [RealDate.now() + shift] : given) as [number]));
      }
      static override now() {
        return RealDate.now() + shift;
      }
    } as DateConstructor;
  }, days * 86_400_000);
  await page.goto(url);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  expect(await page.evaluate(() => Date.now()), 'the page’s clock is wrong').not.toBeCloseTo(Date.now(), -6);
  const [minutes = 0, seconds = 0] = (await checkout.part('countdown').innerText()).split(':').map(Number);
  const right = ((payment.expiresBy ?? 0) - Date.now()) / 1000;
  expect(Math.abs(minutes * 60 + seconds - right)).toBeLessThan(5);
  await stage.send(payment, payment.amountDue ?? 0);
  await checkout.reach('success');
});

test('the server is killed and comes back in the middle of a payment', async () => {
  const page = await stage.page({
    // A server answers 503 while it starts.
    expectedErrors: /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|\b503\b/,
  });
  const shop = await orderAt(stage.server.url, page);
  await shop.act();
  await shop.choose('Tether USD', 'Tron');
  const address = await shop.address();
  await stage.server.restart(async () => {
    await shop
      .part('connection')
      .filter({ hasText: /Reconnecting/ })
      .waitFor();
    expect(await shop.element.getAttribute('status')).toBe('awaiting-funds');
    await inspect(page, 'demo-reconnecting');
  });
  await shop
    .part('connection')
    .filter({ hasText: /Reconnecting/ })
    .waitFor({ state: 'hidden' });
  expect(await shop.address()).toBe(address);
  await shop.simulate('exact');
  await shop.reach('success');
  // The shop's server has a new key since its restart, and still knows the order.
  expect(await shop.verdict()).toMatch(/^Deliver the order/);
});
