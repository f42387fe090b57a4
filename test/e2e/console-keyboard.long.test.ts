/** The newer pages of the console with only a keyboard: each form opens, is left with Escape, and gives the focus back. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { signInAs } from './staff.js';
import { useStage } from './stage.js';

let directory: string;
const env = () => ({ DATABASE_URL: `sqlite:${join(directory, 'data.sqlite')}`, NETWORKS_FILE: '' });
const stage = useStage({
  async start() {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-keyboard-'));
    return { env: env() };
  },
});
afterAll(() => rm(directory, { recursive: true, force: true }));

let paymentId: string;
let customerId: string;
beforeAll(async () => {
  const { payment } = await stage.create({ customer: { email: 'grace@example.com', name: 'Grace Example' } });
  const params = { payment_id: payment.id };
  const { payments } = stage.merchant;
  await payments.setCurrency({ params: { ...params, currency: 'USDT', network: 'tron' } });
  const { data } = await payments.lockCurrency({ params });
  await stage.send(data, data.amount ?? 0);
  await stage.sandbox('blocks', { network: 'tron', count: 30 });
  await vi.waitFor(async () => expect((await stage.verify(payment.id)).state).toBe('settled'), 20_000);
  paymentId = payment.id;
  const [customer] = (await stage.merchant.customers.list({})).data;
  customerId = customer?.id ?? '';
}, 60_000);

const go = async (page: Page, path: string) => {
  await page.goto(`${new URL(page.url()).origin}/console/test/${path}`);
  await page.locator('main h1').waitFor();
  await page.waitForFunction(() => !document.querySelector('main .wait'));
};

/** The text of the control that has the focus, or the name of its field. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const one = document.activeElement;
    if (!(one instanceof HTMLElement)) return '';
    return one.getAttribute('name') ?? one.innerText.trim();
  });

async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 80; count += 1) {
    if ((await focused(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`80 times Tab do not lead to ${name}`);
}

const inDialog = (page: Page) =>
  page.evaluate(() => document.activeElement?.closest('dialog') !== null && document.activeElement !== null);

test('each form opens with Enter, keeps the focus, is left with Escape, and gives the focus back', async () => {
  const page = await signInAs('owner', stage, env());
  await signInAs('manager', stage, env());
  const forms = [
    [`payment/${paymentId}`, 'Receipt…'],
    [`customer/${customerId}`, 'Erase…'],
    ['limits', 'Daily limit…'],
    ['limits', 'Without approval…'],
    ['team', 'End…'],
    ['links', 'New payment link…'],
  ] as const;
  for (const [path, name] of forms) {
    await go(page, path);
    await tabTo(page, name);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await inDialog(page), name).toBe(true);
    // Round the form: Tab never reaches the page behind it.
    const stops = await page.getByRole('dialog').locator('button, input, select, textarea, a[href]').count();
    for (let count = 0; count <= stops; count += 1) {
      await page.keyboard.press('Tab');
      const isBehind = await page.evaluate(() => document.activeElement?.closest('main') !== null);
      expect(isBehind && !(await inDialog(page)), name).toBe(false);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page), { message: path }).toBe(name);
  }
});

test('a period is chosen and cleared, and keeps the focus while the list is read again', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, 'payments');
  await tabTo(page, 'days');
  await page.keyboard.press('ArrowDown');
  await page.waitForURL((url) => url.search === '?days=today');
  await page.waitForFunction(() => document.querySelector('main[aria-busy=false]'));
  expect(await focused(page)).toBe('days');
  await page.keyboard.press('End');
  await page.waitForURL((url) => url.searchParams.get('days') === 'custom');
  await page.waitForFunction(() => document.querySelector('main[aria-busy=false]'));
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('from');
});

test('a limit of refunds is set without a pointer', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, 'limits');
  await tabTo(page, 'Without approval…');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await tabTo(page, 'amount');
  await page.keyboard.type('15');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Change what needs approval?' }).waitFor();
  await tabTo(page, 'Set the limit');
  await page.keyboard.press('Enter');
  await page.locator('main').getByText('$15.00').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});
