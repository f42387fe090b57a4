/** The console in a real browser: the daily tasks of a shop's staff, by their clicks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import type { Payment } from 'crypto-checkout/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { invite, settingsPages, signInAs } from './staff.js';
import { inspect, useStageWithCommands } from './stage.js';

const { stage, env, pathOf } = useStageWithCommands();

const signIn = (role: string) => signInAs(role, stage, env());

async function paid(factor: number, more: { reference?: string; email?: string; coin?: string } = {}) {
  const { payment } = await stage.create({
    ...(more.reference && { txRef: more.reference }),
    customer: { email: more.email ?? 'payer@example.com', name: '<img src=x onerror=alert(1)>' },
  });
  const params = { payment_id: payment.id };
  const { payments } = stage.merchant;
  await payments.setCurrency({ params: { ...params, currency: 'USDT', network: 'tron' } });
  const { data } = await payments.lockCurrency({ params });
  await stage.send(data, (data.amount ?? 0) * factor, more.coin);
  return data;
}

const confirm = () => stage.sandbox('blocks', { network: 'tron', count: 30 });
const until = (payment: Payment, state: string) =>
  vi.waitFor(async () => expect((await stage.verify(payment.id)).state).toBe(state), { timeout: 20_000 });

/** Counts the clicks and the seconds of a task. Typing counts as none. */
interface Hand {
  click(role: 'link' | 'button', name: string | RegExp): Promise<void>;
  choose(label: string, option: string): Promise<void>;
  search(text: string): Promise<void>;
}
const table: { task: string; clicks: number; seconds: number }[] = [];

async function task(page: Page, name: string, run: (hand: Hand) => Promise<void>): Promise<void> {
  let clicks = 0;
  const began = performance.now();
  await run({
    async click(role, target) {
      clicks += 1;
      await page.getByRole(role, { name: target }).first().click();
    },
    async choose(label, option) {
      clicks += 1;
      await page.getByLabel(label).selectOption(option);
    },
    async search(text) {
      clicks += 1;
      await page.getByRole('searchbox').click();
      await page.getByRole('searchbox').fill(text);
      await page.keyboard.press('Enter');
    },
  });
  table.push({ task: name, clicks, seconds: Math.round((performance.now() - began) / 100) / 10 });
  expect(clicks, name).toBeLessThanOrEqual(4);
}

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { name, level: 1 }).waitFor();

let exact: Payment;
let excess: Payment;
let late: Payment;
let wrong: Payment;

/** Input of somebody who wants a script to run in the console. */
const markup = `"'><img src=x onerror="top.ran=1"><svg onload="top.ran=1"><script>top.ran=1</script>`;

/** The shop's receiver of webhooks, which is down. */
let answer = 503;
const receiver = createServer((request, response) => {
  request.resume();
  response.writeHead(answer).end(`Sold out ${markup}`);
});
afterAll(() => receiver.close());

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const url = ['--webhook-url', `http://127.0.0.1:${port}/hooks`, '--mode', 'test'];
  await runCommand(env(), 'merchants', 'update', await merchantIdOf(env()), ...url);
  exact = await paid(1, { reference: 'order-exact', email: 'ada@example.com' });
  excess = await paid(1.5, { reference: 'order-excess' });
  wrong = await paid(1, { reference: 'order-wrong', coin: 'TRX' });
  await confirm();
  await Promise.all([until(exact, 'settled'), until(excess, 'settled_over')]);
  await stage.sandbox('clock', { advanceSeconds: 3 * 3600 });
  await until(wrong, 'invalid');
  late = (await stage.createLocked('USDT', 'tron')).payment;
  await stage.merchant.payments.cancel({ params: { payment_id: late.id } });
  await stage.send(late, late.amount ?? 0);
  await confirm();
  await until(late, 'cancelled_paid');
}, 60_000);

/** Many pages in sequence: a busy machine takes minutes. */
const longMs = 360_000;

test(
  'the daily tasks take four clicks at most',
  async () => {
    const page = await signIn('owner');
    const { receipts = [] } = await stage.verify(exact.id);
    const finds: [string, string][] = [
      ['find by order', 'order-exact'],
      ['find by e-mail', 'ADA@example.com'],
      ['find by address', exact.addressInformation?.address ?? ''],
      ['find by transaction', receipts[0]?.txHash ?? ''],
      ['find by id', exact.id],
    ];
    for (const [name, text] of finds) {
      await task(page, name, async ({ search }) => {
        await search(text);
        await heading(page, 'Payment order-exact');
        await page.getByText('Paid', { exact: true }).first().waitFor();
      });
      await page.getByRole('link', { name: 'Home' }).click();
      await heading(page, 'Home');
    }

    await task(page, 'refund an excess', async ({ click }) => {
      await click('link', /paid too much/);
      await click('link', 'order-excess');
      await click('button', 'Refund…');
      const row = page.getByRole('radio', { name: /^The excess above the price: the payer gets 10.00/ });
      expect(await row.isChecked()).toBe(true);
      await click('button', 'Make the refund’s link');
      await page.getByRole('heading', { name: '10.00 USDT: send this link to the payer' }).waitFor();
    });
    const link = await page.locator('dialog code').innerText();
    await page.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('link', { name: 'Home' }).click();
    await task(page, 'a late payment', async ({ click }) => {
      await click('link', /paid late/);
      await click('link', late.txRef ?? '');
      await heading(page, `Payment ${late.txRef}`);
      await page.getByText('Cancelled, then paid').first().waitFor();
    });
    await page.getByRole('link', { name: 'Home' }).click();
    await task(page, 'a wrong coin', async ({ click }) => {
      await click('link', /wrong coin/);
      await click('link', 'order-wrong');
      await heading(page, 'Payment order-wrong');
      await page.getByText('Does not count', { exact: true }).waitFor();
    });

    await page.getByRole('link', { name: 'Home' }).click();
    await task(page, 'export for the accountant', async ({ click }) => {
      await click('link', 'Payments');
      const download = page.waitForEvent('download');
      await click('button', 'Save as CSV');
      const file = pathOf('payments.csv');
      await (await download).saveAs(file);
      const text = await readFile(file, 'utf8');
      // Excel garbled names in files without this mark: woocommerce/woocommerce#17454.
      expect(text.startsWith('\ufeff')).toBe(true);
      const lines = text.trim().split('\r\n');
      expect(lines[0]).toContain('id,reference,created,state');
      expect(lines).toHaveLength(5);
    });

    // The payer claims, and a manager approves what he has seen.
    const payer = await stage.page();
    await payer.goto(link);
    await payer.getByRole('textbox', { name: 'Your address' }).fill('TJRabPrwbZy45sbavfcjinPJC18kjpRTv8');
    await payer.keyboard.press('Enter');
    await payer
      .getByRole('button', { name: /Confirm|Yes/ })
      .first()
      .click();
    const manager = await signIn('manager');
    await task(manager, 'approve a refund', async ({ click }) => {
      await click('link', /waits? for approval/);
      await click('button', 'Approve…');
      await manager.getByText('TJRabPrwbZy45sbavfcjinPJC18kjpRTv8').waitFor();
      await click('button', /^Approve 10/);
      await manager.locator('.toast', { hasText: 'Approved' }).waitFor();
    });
    await tasksOfSettings(page);
    console.log(
      table.map(({ task: name, clicks, seconds }) => `${name}: ${clicks} clicks, ${seconds} s`).join('\n'),
    );
  },
  longMs,
);

/** Occasional work: webhooks, keys, the team, balances and networks. */
async function tasksOfSettings(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Home' }).click();
  await task(page, 'see why a webhook failed, and send it again', async ({ click }) => {
    await click('link', /webhooks? (is|are) refused/);
    await click('link', 'payment.success');
    await page.getByText('Returned HTTP 503').first().waitFor();
    await page.getByText('Sold out').first().waitFor();
    answer = 204;
    await click('button', 'Send again');
    await page.getByText('Delivered').waitFor();
  });

  // The newest key is the first one.
  const key = ['--kind', 'secret', '--mode', 'test', '--label', 'Leaked'];
  await runCommand(env(), 'keys', 'create', '--merchant', await merchantIdOf(env()), ...key);
  await task(page, 'revoke a key', async ({ click }) => {
    await click('link', 'Developers');
    await page.getByRole('cell', { name: 'Leaked' }).waitFor();
    await click('button', 'Revoke…');
    await click('button', 'Revoke the key');
    await page.getByRole('cell', { name: /^Revoked/ }).waitFor();
  });

  await task(page, 'add a colleague', async ({ click }) => {
    await click('link', 'Settings');
    await click('link', 'Team');
    await click('button', 'Add a colleague…');
    await page.getByRole('textbox', { name: 'E-mail', exact: true }).fill('eve@shop.example');
    await click('button', 'Make the link');
    await page.getByRole('heading', { name: 'Send this link to eve@shop.example' }).waitFor();
    expect(await page.locator('dialog code').innerText()).toMatch(/\/console#[\w-]{43}$/);
  });
  await page.getByRole('button', { name: 'Close' }).click();

  await task(page, 'where is how much', async ({ click }) => {
    await click('link', 'Money');
    await page.getByRole('cell', { name: /^Tron: .*USDT/ }).waitFor();
  });

  await task(page, 'is a node behind', async ({ click }) => {
    await click('link', 'Settings');
    await click('link', 'Networks');
    await page
      .getByRole('row', { name: /^Tron Offered \d+ s/ })
      .first()
      .waitFor();
  });
}

test(
  'pages are accessible and complete, whatever a payer has entered',
  async () => {
    const page = await signIn('owner');
    const { merchant } = stage;
    const [delivery] = (await merchant.webhooks.list({})).data;
    const { data: wallet } = await merchant.wallets.create({
      body: { currency: 'USDT', label: 'Donations' },
    });
    const { data: plan } = await merchant.paymentPlans.create({
      body: {
        frequency: 'monthly',
        planName: '<b>Membership</b>',
        numberOfTimesToCharge: 12,
        amount: 5,
        currency: 'USD',
        currencies: ['USDT'],
      },
    });
    const [customer] = (await merchant.customers.list({})).data;
    // `console-settings.long.test.ts` inspects the settings.
    const shown = [
      ...['home', 'payments', `payment/${excess.id}`, 'refunds', 'payments?q=nothing'],
      ...['developers', `delivery/${delivery?.id}`, 'money', 'customers', `customer/${customer?.id}`],
      ...['plans', `plan/${plan.id}`, 'subscribers', 'wallets', `wallet/${wallet.id}`],
    ];
    for (const path of shown) {
      await page.goto(`${new URL(page.url()).origin}/console/test/${path}`);
      await page.locator('h1').waitFor();
      await inspect(page, `console-${path.replace(/\W.*/, '')}`);
    }
    // The preview shows the checkout as payers see it, and cannot be pressed.
    await page.goto(`${new URL(page.url()).origin}/console/test/settings?locale=fr&theme=dark`);
    await page.locator('crypto-checkout[locale=fr][theme=dark]').getByText('49,90').first().waitFor();
    expect(await page.locator('.preview').evaluate((one: HTMLElement) => one.inert)).toBe(true);
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('q');
  },
  longMs,
);

test(
  'input of payers, the shop and its server is text: no markup, no script, no link but to the web',
  async () => {
    const { merchant } = stage;
    const id = await merchantIdOf(env());
    const names = ['--name', markup, '--business-name', markup];
    await runCommand(env(), 'merchants', 'update', id, ...names);
    const key = ['--kind', 'secret', '--mode', 'test', '--label', markup];
    await runCommand(env(), 'keys', 'create', '--merchant', id, ...key);
    const { payment } = await stage.create({
      redirectUrl: `https://shop.example/?${markup}`,
      customer: { email: 'mallory@example.com', name: markup },
      metadata: { note: markup, link: 'javascript:top.ran=1' },
    });
    const body = { kind: 'partial' as const, amount: '1', reason: markup };
    await merchant.refunds.create({ params: { payment_id: exact.id }, body });
    const { data: wallet } = await merchant.wallets.create({ body: { currency: 'USDT', label: markup } });
    const { data: plan } = await merchant.paymentPlans.create({
      body: {
        frequency: 'monthly',
        planName: markup,
        numberOfTimesToCharge: 12,
        amount: 5,
        currency: 'USD',
        currencies: ['USDT'],
      },
    });
    await merchant.subscribers.create({
      params: { payment_plan_id: plan.id },
      body: { email: 'mallory@example.com' },
    });
    const [customer] = (await merchant.customers.list({ query: { email: 'mallory@example.com' } })).data;
    const { data: deliveries } = await merchant.webhooks.list({ query: { subjectId: exact.id } });

    const page = await signIn('owner');
    const { origin } = new URL(page.url());
    const shown: string[] = [];
    for (const path of [
      ...['home', 'payments', `payment/${payment.id}`, `payment/${exact.id}`, 'refunds', 'money'],
      ...['customers', `customer/${customer?.id}`, 'plans', `plan/${plan.id}`, 'subscribers', 'wallets'],
      ...[`wallet/${wallet.id}`, 'developers', `delivery/${deliveries[0]?.id}`, ...settingsPages],
      `payments?q=${encodeURIComponent(markup)}`,
    ]) {
      await page.goto(`${origin}/console/test/${path}`);
      // It covers the data that was read for the page.
      await page.locator('h1').waitFor();
      if ((await page.locator('body').innerText()).includes('onerror="top.ran=1"')) {
        shown.push(path.replace(/\W.*/, ''));
      }
      const made = page.locator('img[src=x], svg[onload], script:not([src])');
      expect(await made.count(), path).toBe(0);
      expect(await page.evaluate(() => 'ran' in globalThis), path).toBe(false);
      const protocols = await page
        .locator('a[href]')
        .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).protocol));
      expect(
        [...new Set(protocols)].filter((one) => !/^(https?|mailto):$/.test(one)),
        path,
      ).toEqual([]);
    }
    const expected = ['payments', 'payment', 'customers', 'customer', 'plans', 'plan', 'subscribers'];
    expect(shown).toEqual(
      expect.arrayContaining([...expected, 'wallets', 'wallet', 'developers', 'delivery']),
    );
  },
  longMs,
);

test('a link’s token leaves the address at once, and works once', async () => {
  const link = await invite('support', stage, env());
  const first = await stage.page({ expectedErrors: /40[14]/ });
  const asked: string[] = [];
  first.on('request', (request) => asked.push(request.url(), request.headers()['referer'] ?? ''));
  await first.goto(link);
  await heading(first, 'Home');
  expect(first.url()).not.toContain('#');
  expect(asked.join(' ')).not.toContain(link.split('#')[1]);

  const second = await stage.page({ expectedErrors: /40[14]/ });
  await second.goto(link);
  await second.getByRole('alert').getByText('This link has ended').waitFor();
  await inspect(second, 'console-sign-in');
});

test('the words of a wallet, pasted into a search or a filter, are neither sent nor kept', async () => {
  const page = await signIn('owner');
  await page.getByRole('link', { name: 'Customers' }).click();
  await heading(page, 'Customers');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const before = page.url();
  const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
  for (const field of [page.getByRole('searchbox'), page.locator('.filters input[name="email"]')]) {
    await field.fill(words);
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('');
    expect(await field.evaluate((input: HTMLInputElement) => input.validationMessage)).toMatch(
      /^That looks like a private key or the words of a wallet. It was not sent/,
    );
  }
  expect(page.url()).toBe(before);
  expect(asked.filter((url) => /winner|sausage/.test(url))).toEqual([]);
  // An input that only resembles one is searched for.
  await page.getByRole('searchbox').fill('order-exact');
  await page.getByRole('searchbox').press('Enter');
  await heading(page, 'Payment order-exact');
});

test('actions that a role may not do are not on its pages', async () => {
  const page = await signIn('accountant');
  await page.getByRole('link', { name: 'Payments' }).click();
  await heading(page, 'Payments');
  expect(await page.getByRole('button', { name: 'New payment' }).count()).toBe(0);
  await page.getByRole('link', { name: 'order-excess' }).click();
  await heading(page, 'Payment order-excess');
  expect(await page.getByRole('button', { name: /Refund|Cancel payment|webhook/ }).count()).toBe(0);
});

test.each(['home', 'payments', 'money', 'customers'])(
  'the document of %s names each script that it needs, and who is signed in, so that nothing waits for a turn more',
  async (path) => {
    const page = await signIn('owner');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${new URL(page.url()).origin}/console/test/${path}`);
    await page.locator('main h1').waitFor();
    await page.waitForFunction(() => !document.querySelector('main .wait'));
    const named = await page
      .locator('link[rel=modulepreload]')
      .evaluateAll((links) => links.map((one) => (one instanceof HTMLLinkElement ? one.href : '')));
    const scripts = asked.filter((url) => url.includes('/chunks/'));
    expect([...new Set(scripts)].sort()).toEqual(named.sort());
    expect(asked.filter((url) => url.endsWith('/console/api/session'))).toEqual([]);
  },
);

test('Home reads its numbers once, and again when they have changed', async () => {
  const page = await signIn('owner');
  let reads = 0;
  page.on('request', (request) => (reads += request.url().endsWith('/v1/home') ? 1 : 0));
  const listens = page.waitForResponse(/\/console\/api\/changes\/test\?seen=/);
  await page.reload();
  await listens;
  // Longer than the server takes to look for changes.
  await page.waitForTimeout(4500);
  expect(reads).toBe(1);
  const { payment } = await stage.createLocked('USDT', 'tron');
  await stage.merchant.payments.cancel({ params: { payment_id: payment.id } });
  await stage.send(payment, payment.amount ?? 0);
  await confirm();
  await until(payment, 'cancelled_paid');
  await expect.poll(() => reads, { timeout: 10_000 }).toBe(2);
});

test('a payment’s page reads it once, and again when it has changed', async () => {
  const page = await signIn('owner');
  const { payment } = await stage.create();
  let reads = 0;
  page.on(
    'request',
    (request) => (reads += request.url().endsWith(`/v1/transactions/${payment.id}`) ? 1 : 0),
  );
  const listens = page.waitForResponse(/\/console\/api\/changes\/test\?payment=\w+&seen=/);
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/console/test/payment/${payment.id}`);
  await heading(page, `Payment ${payment.txRef}`);
  await listens;
  // Longer than it waits to be read again on schedule.
  await page.waitForTimeout(7000);
  expect(reads).toBe(1);
  await stage.merchant.payments.cancel({ params: { payment_id: payment.id } });
  await page.getByText('Cancelled', { exact: true }).first().waitFor();
  expect(reads).toBe(2);
});

test.each(['heard', 'polled'])('a payment’s page and Home follow what happens: %s', async (way) => {
  const page = await signIn('support');
  if (way === 'polled')
    await page.route('**/console/api/changes/**', (route) => route.fulfill({ status: 404 }));
  const { payment } = await stage.create();
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/console/test/payment/${payment.id}`);
  await heading(page, `Payment ${payment.txRef}`);
  if (way === 'heard') {
    // Long before it would be read again on schedule.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 10_000);
  }
  await stage.merchant.payments.cancel({ params: { payment_id: payment.id } });
  await page.getByText('Cancelled', { exact: true }).first().waitFor();
});

test('a session that was ended elsewhere asks to sign in, and shows nothing more', async () => {
  const page = await signIn('owner');
  await page.getByRole('link', { name: 'Payments' }).click();
  await heading(page, 'Payments');
  await runCommand(env(), 'users', 'sign-out', 'owner@shop.example', '--merchant', await merchantIdOf(env()));
  await page.getByLabel('Status').selectOption('Paid');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.getByText('order-exact').count()).toBe(0);
});
