/**
 * Interruptions in the middle of a payment: lost networks, sleeping phones, failing servers, pages that move the tag.
 */
import { chromium, type Route } from 'playwright-core';
import { verifyPayment } from 'crypto-checkout/client';
import { expect, inject, test } from 'vitest';
import { checkoutOn, type Checkout } from './checkout.js';
import { openShop, tagOf } from './shop-page.js';
import { useStage } from './stage.js';

// Blocks come on request, so that each state stays until it was checked.
const stage = useStage({ blockIntervalMs: 0, needsWholeBrowser: true });

const paymentCount = async () =>
  (await stage.merchant.transactions.list({ query: { skip: 1 } })).pagination?.total ?? 0;

type Locked = Awaited<ReturnType<typeof stage.createLocked>>;

/** The money comes, and is confirmed. */
async function pay({ payment }: Locked): Promise<void> {
  await stage.send(payment, payment.amountDue ?? 0);
  await stage.sandbox('blocks', { network: 'tron', count: 3 });
  await expect.poll(async () => (await stage.verify(payment.id)).status, { timeout: 10_000 }).toBe('success');
}

/** A hosted page at its address, with a clock that the test can turn on. */
async function openAtAddress(expectedErrors = /ERR_|Failed to load resource|crypto-checkout>/) {
  const locked = await stage.createLocked('USDT', 'tron');
  const page = await stage.page({ expectedErrors });
  await page.clock.install();
  await page.goto(locked.url);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  await checkout.part('time-log').waitFor();
  return { locked, page, checkout };
}

const reconnecting = (checkout: Checkout) => checkout.part('connection').filter({ hasText: /Reconnecting/ });

test('offline for 30 seconds, in which the money comes', async () => {
  const { locked, page, checkout } = await openAtAddress();
  await page.context().setOffline(true);
  await page.clock.runFor(30_000);
  await reconnecting(checkout).waitFor();
  expect(await checkout.element.getAttribute('status')).toBe('awaiting-funds');
  expect(await checkout.part('address').count()).toBe(1);
  await pay(locked);
  await page.context().setOffline(false);
  await checkout.reach('success');
});

test('a stranger has taken order-N, order-N:2 … order-N:40, and the payer pays with the third request', async () => {
  const txRef = `blocked-${process.pid}`;
  for (let count = 1; count <= 40; count += 1) {
    const taken = await fetch(`${stage.server.url}/v1/payments/checkout`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${stage.server.publicKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        amount: 20,
        baseCurrency: 'USD',
        txRef: count === 1 ? txRef : `${txRef}:${count}`,
      }),
    });
    expect(taken.status).toBe(200);
  }
  const page = await stage.page({ expectedErrors: /409/ });
  const answers: number[] = [];
  page.on('response', (response) => {
    if (new URL(response.url()).pathname === '/v1/payments/checkout') answers.push(response.status());
  });
  await openShop(stage, page, tagOf(stage, txRef));
  const checkout = checkoutOn(page);
  await checkout.act();
  await checkout.choose('Tether USD', 'Tron');
  expect(answers).toEqual([409, 409, 200]);
  const [{ id } = { id: '' }] = (await stage.merchant.transactions.list({ query: { skip: 1 } })).data;
  const payment = await stage.verify(id);
  expect(payment.txRef).toMatch(new RegExp(`^${txRef}:[1-9]\\d{8}$`));
  await stage.send(payment, payment.amountDue ?? 0);
  await stage.sandbox('blocks', { network: 'tron', count: 3 });
  await checkout.reach('success');
  const order = { txRef, baseAmount: 20, baseCurrency: 'USD', mode: 'test' } as const;
  expect(verifyPayment(await stage.verify(id), order)).toMatchObject({ verified: true });
});

test('hidden for five minutes, in which it asks for nothing', async () => {
  const { locked, page, checkout } = await openAtAddress();
  const setHidden = (isHidden: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
      document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);
  await setHidden(true);
  // A poll that is in flight ends.
  await page.waitForLoadState('networkidle');
  let requests = 0;
  page.on('request', () => (requests += 1));
  await page.clock.runFor(300_000);
  await pay(locked);
  expect(requests).toBe(0);
  await setHidden(false);
  await checkout.reach('success');
});

test('frozen, and resumed after the money came', async () => {
  const { locked, page, checkout } = await openAtAddress();
  const browser = await page.context().newCDPSession(page);
  await browser.send('Page.setWebLifecycleState', { state: 'frozen' });
  await pay(locked);
  await browser.send('Page.setWebLifecycleState', { state: 'active' });
  await page.clock.runFor(60_000);
  await checkout.reach('success');
});

const failures: readonly [name: string, reply: (route: Route) => Promise<void>, expected: RegExp][] = [
  ['500', (route) => route.fulfill({ status: 500, body: 'Internal Server Error' }), /Reconnecting/],
  ['429', (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '20' } }), /Reconnecting/],
  ['garbage', (route) => route.fulfill({ contentType: 'text/html', body: '<h1>It works!' }), /Reconnecting/],
  ['nothing', () => Promise.resolve(), /Reconnecting/],
];

test.each(failures)('a server that answers with %s, and comes back', async (_name, reply, expected) => {
  const { locked, page, checkout } = await openAtAddress();
  await page.route('**/verify/checkout', reply);
  await page.clock.runFor(10_000);
  // A request without an answer is given up after 15 seconds.
  await page.clock.runFor(20_000);
  await checkout.part('connection').filter({ hasText: expected }).waitFor();
  expect(await checkout.element.getAttribute('status')).toBe('awaiting-funds');
  expect(await checkout.part('address').count(), 'the payer can still pay').toBe(1);
  await pay(locked);
  await page.unroute('**/verify/checkout');
  // The wait after a failure gets longer with each one.
  const status = async () => {
    await page.clock.runFor(10_000);
    return checkout.element.getAttribute('status');
  };
  await expect.poll(status, { timeout: 20_000 }).toBe('success');
  expect(await checkout.part('error').count()).toBe(0);
});

test('the tag is moved, removed and put back, and rendered again: one payment', async () => {
  const before = await paymentCount();
  const page = await stage.page();
  await openShop(stage, page, `<div id="a">${tagOf(stage, 'moved')}</div><div id="b"></div>`);
  const checkout = checkoutOn(page);
  await checkout.act();
  await checkout.choose('Tether USD', 'Tron');
  const address = await checkout.address();
  const changes = {
    moved: () => document.querySelector('#b')?.append(document.querySelector('crypto-checkout') ?? ''),
    'removed and put back': () => {
      const element = document.querySelector('crypto-checkout');
      element?.remove();
      setTimeout(() => document.querySelector('#a')?.append(element ?? ''), 500);
    },
    'rendered again': () => {
      const main = document.querySelector('#a');
      const markup = main?.innerHTML ?? '';
      if (main) main.innerHTML = markup;
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    await page.evaluate(change);
    await checkout.reach('awaiting-funds');
    await checkout.part('address').waitFor();
    expect(await checkout.address(), name).toBe(address);
  }
  expect(await paymentCount()).toBe(before + 1);
  const [payment] = (await stage.merchant.transactions.list({ query: { skip: 1 } })).data;
  if (!payment) throw new Error('There is no payment');
  await stage.send(payment, payment.amountDue ?? 0);
  await checkout.reach('confirming');
});

test('two orders on one page are two payments, and the money for one pays one', async () => {
  const before = await paymentCount();
  const page = await stage.page();
  await openShop(stage, page, tagOf(stage, 'left') + tagOf(stage, 'right'));
  const [left, right] = ['#left', '#right'].map((id) => {
    const element = page.locator(id);
    return { element, part: (name: string) => element.locator(`[part~="${name}"]`) };
  });
  if (!left || !right) throw new Error('There are two');
  for (const { element, part } of [left, right]) {
    await part('action').click();
    await element.getByRole('radio', { name: /^Litecoin/ }).click();
    await part('address').waitFor();
  }
  const addresses = await Promise.all([left, right].map(({ part }) => part('address').textContent()));
  expect(new Set(addresses).size).toBe(2);
  expect(await paymentCount()).toBe(before + 2);
  const { data } = await stage.merchant.transactions.list({ query: { skip: 1 } });
  const payment = data.find(({ txRef }) => txRef === 'right');
  if (!payment) throw new Error('There is no payment');
  await stage.send(payment, payment.amountDue ?? 0);
  await page.locator('#right[status="confirming"]').waitFor();
  expect(await left.element.getAttribute('status')).toBe('awaiting-funds');
});

test('two tabs in which the payer presses at the same moment share one payment', async () => {
  const before = await paymentCount();
  const context = await stage.context();
  const tabs = await Promise.all(
    [0, 1].map(async () => {
      const page = await stage.page({ context });
      await openShop(stage, page, tagOf(stage, 'tabs'));
      const checkout = checkoutOn(page);
      await checkout.part('action').waitFor();
      return checkout;
    }),
  );
  // Without waiting: a click waits for the page to be rendered, and the first tab could finish before the second one's.
  await Promise.all(tabs.map((checkout) => checkout.part('action').dispatchEvent('click')));
  const [first, second] = tabs;
  if (!first || !second) throw new Error('There are two');
  await Promise.all(tabs.map((checkout) => checkout.reach('choosing-currency')));
  await first.choose('Litecoin');
  await second.reach('awaiting-funds');
  expect(await second.address()).toBe(await first.address());
  expect(await paymentCount()).toBe(before + 1);
});

test('a reload in each state shows that state again, and creates nothing', async () => {
  const before = await paymentCount();
  const page = await stage.page();
  await openShop(stage, page, tagOf(stage, 'reloads'));
  const checkout = checkoutOn(page);
  const reload = async (status: Parameters<Checkout['reach']>[0]) => {
    await checkout.reach(status);
    await page.reload();
    await checkout.reach(status);
  };
  await reload('idle');
  expect(await paymentCount()).toBe(before);
  await checkout.act();
  await reload('choosing-currency');
  await checkout.element.getByRole('radio', { name: /^Tether USD/ }).click();
  await checkout.reach('choosing-network');
  await page.reload();
  // The server knows nothing of a coin without a network.
  await checkout.choose('Tether USD', 'Tron');
  await reload('awaiting-funds');
  const [payment] = (await stage.merchant.transactions.list({ query: { skip: 1 } })).data;
  if (!payment) throw new Error('There is no payment');
  await stage.send(payment, '5');
  await reload('partially-paid');
  await stage.send(payment, (await stage.verify(payment.id)).amountDue ?? 0);
  await reload('confirming');
  await stage.sandbox('blocks', { network: 'tron', count: 3 });
  await reload('success');
  expect(await paymentCount()).toBe(before + 1);
});

test('a page restored from the back-forward cache shows the current state', async () => {
  const { executablePath, args } = inject('browserPrograms').whole;
  // Playwright turns the cache off.
  const browser = await chromium.launch({
    executablePath,
    args,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
  try {
    const page = await browser.newPage();
    const locked = await stage.createLocked('USDT', 'tron');
    await openShop(
      stage,
      page,
      `<crypto-checkout public-key="${stage.server.publicKey}" payment-id="${locked.payment.id}"></crypto-checkout>`,
    );
    const checkout = checkoutOn(page);
    await checkout.reach('awaiting-funds');
    await checkout.part('time-log').waitFor();
    await page.evaluate(() =>
      addEventListener('pageshow', ({ persisted }) => {
        if (persisted) document.querySelector('main')?.setAttribute('data-from', 'cache');
      }),
    );
    await page.goto(`${stage.server.url}/docs`);
    await pay(locked);
    await page.goBack({ waitUntil: 'commit' });
    await checkout.reach('success');
    expect(await page.locator('main').getAttribute('data-from')).toBe('cache');
  } finally {
    await browser.close();
  }
});
