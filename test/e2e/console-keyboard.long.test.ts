/** The newer pages of the console with only a keyboard: each form opens, is left with Escape, and gives the focus back. */
import { beforeAll, expect, test, vi } from 'vitest';
import { fillIn, focused, isInDialog, press, tabTo } from './by-keyboard.js';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { go, signInAs } from './staff.js';
import { useStageWithCommands } from './stage.js';

const { stage, env } = useStageWithCommands();

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
    expect(await isInDialog(page), name).toBe(true);
    // Round the form: Tab never reaches the page behind it.
    const stops = await page.getByRole('dialog').locator('button, input, select, textarea, a[href]').count();
    for (let count = 0; count <= stops; count += 1) {
      await page.keyboard.press('Tab');
      const isBehind = await page.evaluate(() => document.activeElement?.closest('main') !== null);
      expect(isBehind && !(await isInDialog(page)), name).toBe(false);
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

test('a bank payout is recorded, sent and failed without a pointer', async () => {
  const page = await signInAs('manager', stage, env());
  await go(page, 'banks');
  await press(page, 'New bank account…');
  await fillIn(page, {
    accountName: 'Ada Example',
    accountNumber: 'DE89370400440532013000',
    accountBank: 'Sparkasse',
    country: 'DE',
    currency: 'EUR',
  });
  await page.getByRole('cell', { name: 'Sparkasse' }).waitFor();
  const row = (text: string) => page.getByRole('row', { name: text });
  for (const reference of ['Rent of May', 'Rent of June']) {
    await press(page, 'New bank payout…');
    await fillIn(page, { amount: '2', reference });
    await page.getByRole('heading', { name: /^Take .*USDT from the balance\?$/ }).waitFor();
    await page.keyboard.press('Tab');
    await press(page, 'Take 2.00\u00a0USDT');
    await row(reference).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('New bank payout…');
  }
  await press(page, 'It was sent…');
  await fillIn(page, { bankReference: 'FT26001' });
  await page.getByRole('table', { name: 'Sent and failed' }).getByText('FT26001').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  // The second action of a row is behind a button.
  await press(page, '⋯');
  await press(page, 'It failed…');
  await fillIn(page, { reason: 'The account is closed' });
  await page.getByRole('table', { name: 'Sent and failed' }).getByText('The account is closed').waitFor();
  await page.getByText('Nothing waits for the bank.').waitFor();
});

test('webhooks are sent again in bulk without a pointer, and stopped', async () => {
  const merchant = await merchantIdOf(env());
  const url = ['--webhook-url', 'http://127.0.0.1:9/hooks', '--mode', 'test'];
  await runCommand(env(), 'merchants', 'update', merchant, ...url);
  for (const order of [1, 2, 3]) {
    const { payment } = await stage.create({ txRef: `order-${order}` });
    await stage.merchant.payments.cancel({ params: { payment_id: payment.id } });
  }
  const failing = async () =>
    (await stage.merchant.webhooks.list({ query: { status: 'failing' } })).data.length;
  await expect.poll(failing, { timeout: 20_000 }).toBe(3);
  const page = await signInAs('owner', stage, env());
  await go(page, 'developers');
  await tabTo(page, 'status');
  await page.keyboard.press('ArrowDown');
  await page.waitForURL((address) => address.searchParams.get('status') === 'failing');
  await page.waitForFunction(() => document.querySelector('main[aria-busy=false]'));
  expect(await focused(page)).toBe('status');
  let answered = 0;
  let release = () => {};
  const held = new Promise<void>((open) => (release = open));
  await page.route(/\/retry$/, async (route) => {
    answered += 1;
    if (answered === 2) await held;
    await route.continue();
  });
  const button = page.getByRole('button', { name: /^Send these \d+ again…$/ });
  const name = await button.innerText();
  await page.keyboard.press('Shift+Tab');
  await press(page, name);
  await page.getByRole('dialog').waitFor();
  expect(await isInDialog(page)).toBe(true);
  await press(page, 'Send again');
  await page.getByText(/^1 of \d+$/).waitFor();
  // The button stays, with the focus, and a second press does nothing.
  expect(await focused(page)).toBe(name);
  await page.keyboard.press('Enter');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await press(page, 'Stop');
  release();
  await page.getByText(/since you stopped/).waitFor();
  expect(answered).toBe(2);
});
