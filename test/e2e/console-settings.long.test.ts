/** Settings on pages of their own, other people's sessions, the audit log in words, and the steps before going live. */
import { createServer } from 'node:http';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { focused } from './by-keyboard.js';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { misfitsOn } from './fitting.js';
import { settingsPages, signInAs, signInFirst } from './staff.js';
import { cutFilters, inspect, useStageWithCommands } from './stage.js';

const { stage, env } = useStageWithCommands();

const screens = fileURLToPath(new URL('../../.tmp/screens/', import.meta.url));
async function show(page: Page, name: string): Promise<void> {
  if (process.env['SCREENS'] !== '1') return;
  await mkdir(screens, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [390, 1280]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const path = join(screens, `settings-${name}-${width}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true });
    }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function go(page: Page, path: string, heading: string): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/console/test/${path}`);
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
}

/** Something to wait for. */
function gate(): { readonly held: Promise<void>; release: () => void } {
  let release = () => {};
  const held = new Promise<void>((open) => {
    release = open;
  });
  return { held, release: () => release() };
}

const parts = (page: Page) => page.getByRole('navigation', { name: 'Settings' });

test('the settings are pages of one screen or two, with a menu that works at 320 px; old links lead on', async () => {
  const page = await signInAs('owner', stage, env());
  await page.setViewportSize({ width: 320, height: 700 });
  await go(page, 'settings?locale=fr', 'Shop');
  expect(new URL(page.url()).pathname).toBe('/console/test/shop');
  expect(new URL(page.url()).searchParams.get('locale')).toBe('fr');
  const names = [
    'Shop',
    'Fee and limits',
    'E-mail to payers',
    'Team',
    'Your account',
    'Networks',
    'Audit log',
  ];
  expect(await parts(page).getByRole('link').allInnerTexts()).toEqual(names);
  for (const name of names) {
    await parts(page).getByRole('link', { name }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    expect(await parts(page).locator('[aria-current=page]').innerText()).toBe(name);
    expect(await misfitsOn(page), name).toEqual([]);
  }
  await page.goBack();
  await page.getByRole('heading', { name: 'Networks', level: 1 }).waitFor();
  await page.setViewportSize({ width: 1280, height: 900 });
  for (const [index, path] of settingsPages.entries()) {
    await go(page, path, names[index] ?? '');
    await inspect(page, `console-${path}`);
    await show(page, path);
  }
  // The whole page was 3,300 px high.
  for (const path of settingsPages.filter((one) => one !== 'audit')) {
    await page.goto(`${new URL(page.url()).origin}/console/test/${path}`);
    await page.locator('main h1').waitFor();
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    expect(height, path).toBeLessThan(1800);
  }
  await go(page, 'settings?do=create', 'Team');
  await page.getByRole('heading', { name: 'Add a colleague' }).waitFor();
});

test.each([
  ['a colleague', 'team', 'Team', 'Add a colleague…', 'email'],
  ['a key', 'developers', 'Developers', 'New test key…', 'kind'],
])('a fresh sign-in is asked for before the form of %s', async (_what, path, title, button, field) => {
  const page = await signInAs('owner', stage, env());
  await go(page, path, title);
  const press = () => page.getByRole('button', { name: button }).click();
  await signInFirst(page, press, page.getByRole('dialog').locator(`[name=${field}]`));
});

test('somebody who answers payers sees their own account only', async () => {
  const page = await signInAs('support', stage, env());
  await go(page, 'settings', 'Your account');
  expect(await parts(page).getByRole('link').allInnerTexts()).toEqual(['Your account', 'Networks']);
  await go(page, 'team', 'Not for your role');
  await page.getByText(/The role support does not see this page/).waitFor();
});

test('an owner sees where a colleague is signed in, and ends that session', async () => {
  const colleague = await signInAs('manager', stage, env());
  await go(colleague, 'team', 'Team');
  expect(await colleague.getByRole('heading', { name: 'Sessions of the team' }).count()).toBe(0);
  const page = await signInAs('owner', stage, env());
  await go(page, 'team', 'Team');
  const row = page
    .getByRole('table', { name: 'Sessions of the team' })
    .getByRole('row', { name: 'manager@shop.example' });
  expect(await row.innerText()).toContain('Chrome, Linux');
  await show(page, 'sessions');
  await row.getByRole('button', { name: 'End…' }).click();
  await page.getByRole('button', { name: 'End the session' }).click();
  await page.getByText('Ended').first().waitFor();
  await row.waitFor({ state: 'detached' });
  await colleague.reload();
  await colleague.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('Home knows what is missing before the shop goes live, and where it is done', async () => {
  const page = await signInAs('owner', stage, env());
  const panel = page.locator('section.panel', {
    has: page.getByRole('heading', { name: 'Before you go live' }),
  });
  await panel.getByText('0 of 5 done').waitFor();
  await panel
    .getByText(/^node server\/dist\/cli\.js merchants update \w{26} --fee-basis-points 0$/)
    .waitFor();
  await show(page, 'steps');
  await panel.getByRole('link', { name: 'Name the pages that payers may return to' }).click();
  await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Change…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: /May send payers to/ }).fill('https://shop.example/path');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/"https:\/\/shop.example\/path" is not an origin/).waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Change…' }).click();
  await dialog
    .getByRole('textbox', { name: /May send payers to/ })
    .fill('https://shop.example\nhttps://www.shop.example');
  await dialog.getByRole('textbox', { name: /Help for payers/ }).fill('mailto:help@shop.example');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('https://shop.example, https://www.shop.example').waitFor();
  await page.getByRole('link', { name: 'Home' }).click();
  await panel.getByText('2 of 5 done').waitFor();
  expect(await panel.locator('.done').allInnerTexts()).toEqual([
    expect.stringContaining('Name the pages'),
    expect.stringContaining('Give payers a link'),
  ]);
  const support = await signInAs('support', stage, env());
  await support.getByRole('heading', { name: 'Paid in full' }).waitFor();
  expect(await support.getByRole('heading', { name: 'Before you go live' }).count()).toBe(0);
});

test('an owner sets limits of refunds after a preview, undoes one, and cannot raise the daily one again', async () => {
  const page = await signInAs('owner', stage, env(), /40[01349]/);
  await go(page, 'limits', 'Fee and limits');
  const panel = page.locator('section.panel', {
    has: page.getByRole('heading', { name: 'Refunds', exact: true }),
  });
  const dialog = page.getByRole('dialog');
  const fill = async (button: string, code: string, sum: string) => {
    await panel.getByRole('button', { name: button }).click();
    await dialog.locator('select[name=currency]').selectOption(code);
    await dialog.locator('input[name=amount]').fill(sum);
    expect(await cutFilters(page)).toEqual([]);
    await show(page, `limit-${button.startsWith('Daily') ? 'daily' : 'auto'}`);
    await dialog.getByRole('button', { name: 'Continue' }).click();
  };
  await panel.getByText('Not set: somebody approves every refund').waitFor();
  await fill('Without approval…', 'USD', '20');
  await dialog.getByText('and at most ten times as much within 24 hours').waitFor();
  const preview = (await dialog.innerText()).replace(/\s+/g, ' ');
  expect(preview).toContain('Now Not set Then $20.00');
  await show(page, 'limit-preview');
  // Nothing is set before the last press.
  await page.keyboard.press('Escape');
  await panel.getByText('Not set: somebody approves every refund').waitFor();
  await fill('Without approval…', 'USD', '20');
  await dialog.getByRole('button', { name: 'Set the limit' }).click();
  await panel.getByText('$20.00').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await panel.getByText('Not set: somebody approves every refund').waitFor();

  await fill('Daily limit…', 'USDT', '500');
  await dialog.getByText('You cannot raise the limit here again').waitFor();
  await dialog.getByRole('button', { name: 'Set the limit' }).click();
  await panel.getByText('500.00 USDT').waitFor();
  await fill('Daily limit…', 'USDT', '600');
  await dialog.getByRole('button', { name: 'Set the limit' }).click();
  await dialog.getByText(/--daily-refunds USDT=600/).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await fill('Daily limit…', 'USDT', '300');
  await dialog.getByRole('button', { name: 'Set the limit' }).click();
  await panel.getByText('300.00 USDT').waitFor();
  await fill('Without approval…', 'USDT', '5');
  await dialog.getByText('within the daily limit of 300.00 USDT').waitFor();
  await page.keyboard.press('Escape');
  expect(await misfitsOn(page)).toEqual([]);
  await show(page, 'limits-set');

  await go(page, 'audit', 'Audit log');
  const sentences = page.locator('.sentence', { hasText: 'owner@shop.example changed the settings' });
  await expect
    .poll(async () => (await sentences.allInnerTexts()).map((one) => one.replace(/^.*settings: /, '').trim()))
    .toEqual(expect.arrayContaining(['refunds a day', 'refunds without approval']));
  const manager = await signInAs('manager', stage, env());
  await go(manager, 'limits', 'Fee and limits');
  await manager.getByText('Owners set these limits.').waitFor();
  expect(await manager.getByRole('button', { name: 'Daily limit…' }).count()).toBe(0);
});

test('the audit log says in sentences who did what, leads to the record, and is searched by person and action', async () => {
  const page = await signInAs('owner', stage, env());
  const { payment } = await stage.create({ txRef: 'order-audited' });
  await page.goto(`${new URL(page.url()).origin}/console/test/payment/${payment.id}`);
  await page.getByRole('button', { name: 'Cancel payment' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel payment' }).click();
  await page.getByText('Cancelled').first().waitFor();
  await go(page, 'audit', 'Audit log');
  const sentences = page.locator('.sentence');
  const first = sentences.filter({ hasText: 'cancelled a payment' });
  expect((await first.innerText()).trim()).toBe('owner@shop.example cancelled a payment');
  expect(await sentences.filter({ hasText: /undefined|\{|\}/ }).count()).toBe(0);
  await sentences.filter({ hasText: 'owner@shop.example ended a session of a colleague' }).first().waitFor();
  await sentences
    .filter({
      hasText: 'owner@shop.example changed the settings: help for payers, where pages may send payers',
    })
    .first()
    .waitFor();
  await show(page, 'audit-log');
  await page.locator('select[name=action]').selectOption('session.ended');
  await expect.poll(() => sentences.allInnerTexts()).toEqual([expect.stringContaining('ended a session')]);
  await page.locator('select[name=action]').selectOption('');
  await page.locator('select[name=person]').selectOption({ label: 'manager@shop.example' });
  await expect
    .poll(async () => new Set(await sentences.allInnerTexts()))
    .toEqual(new Set(['manager@shop.example signed in with a link']));
  await page.locator('select[name=person]').selectOption('');
  await first.getByRole('link', { name: 'payment', exact: true }).click();
  await page.getByRole('heading', { name: 'Payment order-audited', level: 1 }).waitFor();
});

test('a slow page shows its title and rows without words, and new filters keep the title and the filters', async () => {
  const page = await signInAs('owner', stage, env());
  const { held, release } = gate();
  const slow = /console\/api\/audit-log/;
  await page.route(slow, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${new URL(page.url()).origin}/console/test/audit`);
  const wait = page.locator('main .wait');
  await wait.getByText('Audit log', { exact: true }).waitFor();
  await expect.poll(() => wait.evaluate((one) => getComputedStyle(one).opacity)).toBe('1');
  expect(await wait.locator('.blank i').count()).toBe(8);
  expect(await parts(page).locator('[aria-current=page]').innerText()).toBe('Audit log');
  await show(page, 'loading');
  release();
  await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();

  const next = gate();
  await page.unroute(slow);
  await page.route(slow, async (route) => {
    await next.held;
    await route.continue();
  });
  await page.locator('select[name=action]').selectOption('session.started');
  await page.locator('main[aria-busy=true]').waitFor();
  expect(await page.getByRole('heading', { name: 'Audit log', level: 1 }).isVisible()).toBe(true);
  expect(await page.locator('select[name=action]').inputValue()).toBe('session.started');
  const sentence = page.locator('.sentence').first();
  const opacity = () =>
    sentence.evaluate((one) => one.parentElement && getComputedStyle(one.parentElement).opacity);
  await expect.poll(opacity).toBe('0');
  await show(page, 'reading');
  next.release();
  await page.locator('main[aria-busy=false]').waitFor();
  await expect.poll(opacity).toBe('1');
  await expect
    .poll(async () =>
      (await page.locator('.sentence').allInnerTexts()).every((one) => one.includes('signed in')),
    )
    .toBe(true);
});

test('pages of errors have titles of their own, and lead somewhere', async () => {
  const page = await signInAs('support', stage, env(), /40[0134]|500/);
  await go(page, 'no-such-page', 'Page not found');
  expect(await page.title()).toMatch(/^Page not found · /);
  await go(page, 'payment/01J9ZQ8B0C1D2E3F4G5H6J7K8M', 'Record not found');
  expect(await page.title()).toMatch(/^Record not found · /);
  await go(page, 'shop', 'Not for your role');
  await show(page, 'error');
  await page.getByRole('link', { name: 'To the start page' }).click();
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  await page.route(/\/v1\/transactions/, (route) => route.fulfill({ status: 500, json: {} }));
  await go(page, 'payments', 'Payments');
  await page.getByRole('button', { name: 'Try again' }).waitFor();
});

test('the failed webhooks of a filter are sent again, with their progress and a count at the end', async () => {
  let answer = 503;
  const receiver = createServer((request, response) => {
    request.resume();
    response.writeHead(answer).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = receiver.address();
  if (address === null || typeof address === 'string') throw new Error('It listens on a port');
  const url = `http://127.0.0.1:${address.port}/hooks`;
  const merchantId = await merchantIdOf(env());
  const set = () =>
    runCommand(env(), 'merchants', 'update', merchantId, '--webhook-url', url, '--mode', 'test');
  await set();
  const { merchant } = stage;
  for (const order of [1, 2, 3, 4, 5, 6]) {
    const { payment } = await stage.create({ txRef: `order-${order}` });
    await merchant.payments.cancel({ params: { payment_id: payment.id } });
  }
  const list = async (status: 'failing' | 'failed' | 'delivered') =>
    (await merchant.webhooks.list({ query: { status, type: 'payment.cancelled' } })).data;
  const count = async (status: Parameters<typeof list>[0]) => (await list(status)).length;
  await expect.poll(() => count('failing'), { timeout: 20_000 }).toBe(6);
  // One answer that the address is gone gives all of them up.
  answer = 410;
  const [first] = await list('failing');
  await merchant.webhooks.retry({ params: { webhook_id: first?.id ?? '' } });
  await expect.poll(() => count('failed'), { timeout: 20_000 }).toBe(6);
  answer = 200;
  await set();
  const page = await signInAs('owner', stage, env());
  await go(page, 'developers', 'Developers');
  await page.locator('select[name=status]').selectOption('failed');
  await page.locator('select[name=type]').selectOption('payment.cancelled');
  const { held, release } = gate();
  let calls = 0;
  await page.route(/\/retry$/, async (route) => {
    calls += 1;
    if (calls === 4) await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Send these 6 again…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
  await page.getByText('3 of 6', { exact: true }).waitFor();
  await show(page, 'replay');
  release();
  await page.getByText('6 are sent again').waitFor();
  expect(calls).toBe(6);
  await expect.poll(() => count('delivered'), { timeout: 20_000 }).toBe(6);
  await page.getByText('Nothing matches these filters.').waitFor({ timeout: 20_000 });
  receiver.close();
});

test('the oldest API key is reached page by page, and the deliveries keep their filter', async () => {
  const page = await signInAs('owner', stage, env());
  await page.evaluate(async () => {
    for (let number = 1; number <= 25; number += 1) {
      const { ok, status } = await fetch('/console/api/keys', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Checkout-Mode': 'test' },
        body: JSON.stringify({ kind: 'secret', scope: 'read', label: `Reader ${number}` }),
      });
      if (!ok) throw new Error(`Key ${number}: HTTP ${status}`);
    }
  });
  await go(page, 'developers?status=failed', 'Developers');
  const keys = page.getByRole('table', { name: 'API keys' });
  const pager = page.getByRole('navigation', { name: 'API keys: pages' });
  await expect.poll(() => keys.locator('tbody tr').count()).toBe(25);
  await keys.getByText('Reader 25', { exact: true }).waitFor();
  await inspect(page, 'console-keys');
  // That of the stage is older than all of them.
  const first = keys.getByText(stage.server.publicKey);
  expect(await first.count()).toBe(0);
  // A second press before the rows of the last page are there does not turn past it.
  const { held, release } = gate();
  const second = /console\/api\/keys\?/;
  await page.route(second, async (route) => {
    await held;
    await route.continue();
  });
  await pager.getByRole('button', { name: 'Older' }).press('Enter');
  await pager.getByRole('button', { name: 'Older' }).press('Enter');
  expect(await page.evaluate(() => location.search)).toBe('?status=failed&keysPage=2');
  release();
  await first.waitFor();
  await page.unroute(second);
  expect(await pager.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
  expect(new URL(page.url()).search).toBe('?status=failed&keysPage=2');
  expect(await page.locator('select[name=status]').inputValue()).toBe('failed');
  // At either end of the list, the keyboard stays at the button that led there, which does nothing more.
  expect(await focused(page)).toBe('Older');
  await page.keyboard.press('Enter');
  expect(new URL(page.url()).search).toBe('?status=failed&keysPage=2');
  await page.keyboard.press('Shift+Tab');
  expect(await focused(page)).toBe('Newer');
  await page.keyboard.press('Enter');
  await keys.getByText('Reader 25', { exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe('?status=failed');
  expect(await pager.getByRole('button', { name: 'Newer' }).isDisabled()).toBe(true);
  expect(await focused(page)).toBe('Newer');

  // A new key is the newest: the list turns to its page, behind the dialog that shows it.
  await pager.getByRole('button', { name: 'Older' }).press('Enter');
  await first.waitFor();
  await page.getByRole('button', { name: 'New test key…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('input[name=label]').fill('Till');
  await dialog.getByRole('button', { name: 'Make the key' }).click();
  await dialog.getByRole('heading', { name: 'The new key' }).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await keys.getByText('Till', { exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe('?status=failed');
});
