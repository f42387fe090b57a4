/** Money in the console: announced before it moves, and explained afterwards. */
import type { Payment } from 'crypto-checkout/contract';
import { beforeAll, expect, test, vi } from 'vitest';
import { go, signInAs } from './staff.js';
import { inspect, useStageWithCommands } from './stage.js';

const { stage, env } = useStageWithCommands();

const address = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
const day = 86_400;
let excess: Payment;
let late: Payment;

const confirm = () => stage.sandbox('blocks', { network: 'tron', count: 30 });
const until = (payment: Payment, state: string) =>
  vi.waitFor(async () => expect((await stage.verify(payment.id)).state).toBe(state), 20_000);

beforeAll(async () => {
  excess = (await stage.createLocked('USDT', 'tron')).payment;
  late = (await stage.createLocked('USDT', 'tron')).payment;
  await stage.send(excess, (excess.amount ?? 0) * 1.5);
  await confirm();
  await until(excess, 'settled_over');
  const params = { payment_id: excess.id };
  await stage.merchant.refunds.create({ params, body: { kind: 'excess', address } });
  await stage.sandbox('clock', { advanceSeconds: 21 * day });
  await until(late, 'expired');
  await stage.send(late, (late.amount ?? 0) / 2);
  await confirm();
  await vi.waitFor(async () => expect((await stage.verify(late.id)).state).not.toBe('expired'), 20_000);
}, 90_000);

test('a late and short payment says what happened and what to do, and its money is not called good', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, `payment/${late.id}`);
  await page.getByText(/^10.00\sUSDT of 20.00\sUSDT came 20 days late, and the order is not paid/).waitFor();
  await page.getByText('Credited, order not paid', { exact: true }).waitFor();
  expect(await page.getByText('Counts', { exact: true }).count()).toBe(0);
  const steps = page.getByRole('list', { name: 'Life of the payment' }).getByRole('listitem');
  expect((await steps.allInnerTexts()).map((text) => text.split('\n')[0])).toEqual([
    ...['Started', 'Coin chosen', 'Price fixed', 'Money seen', 'Confirmed', 'Expired, paid too late'],
    'Shop notified',
  ]);
  await inspect(page, 'console-late-payment');
});

test('a payment says its excess at its top', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, `payment/${excess.id}`);
  await page.getByText('10.00 USDT more than the price came.').waitFor();
  await page.getByText('Counts', { exact: true }).waitFor();
});

test('before a refund is approved, its amount, address in blocks, network, order and proof are shown', async () => {
  const page = await signInAs('manager', stage, env());
  await go(page, 'refunds');
  await page.getByRole('button', { name: 'Approve…' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.locator('.blocks span').allInnerTexts()).toEqual(address.match(/.{1,4}/g));
  for (const fact of ['10.00 USDT', 'tron', excess.txRef ?? '', 'The excess above the price']) {
    await dialog.getByRole('definition').getByText(fact, { exact: true }).first().waitFor();
  }
  await dialog.getByText('Nobody has signed for this address').waitFor();
  await inspect(page, 'console-approve');
});

test('a fresh sign-in is asked for before a form is filled in, not after', async () => {
  const page = await signInAs('manager', stage, env());
  // Later than a sign-in counts as fresh.
  await page.clock.setFixedTime(Date.now() + 600_000);
  await go(page, `payment/${excess.id}`);
  await page.getByRole('button', { name: 'Refund…' }).click();
  await page.getByRole('heading', { name: 'Sign in again for this' }).waitFor();
  const command = await page.getByRole('dialog').locator('code').innerText();
  expect(command).toMatch(
    /^node server\/dist\/cli\.js users invite --merchant \w{26} --email manager@shop\.example --role manager$/,
  );
  // Nobody has signed in meanwhile.
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Sign in again for this' }).waitFor();
  expect(await page.getByRole('group', { name: 'Refund of' }).count()).toBe(0);
  // Somebody has, in another tab.
  await page.clock.setFixedTime(Date.now());
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('group', { name: 'Refund of' }).waitFor();
});

test('a transfer offers each coin on its own networks, and those that hold some come first', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, 'money?do=create');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  const places = await dialog.getByLabel('Coin and network').locator('option').allInnerTexts();
  expect(places[0]).toMatch(/^USDT on Tron: [\d.]+\sUSDT available$/);
  expect(places.slice(1).filter((place) => place.includes('available'))).toEqual([]);
  expect(places).toContain('BTC on Bitcoin');
  expect(places).not.toContain('BTC on Tron');
  await dialog.getByLabel('Amount').fill('1');
  await dialog.locator('[name=walletAddress]').fill(address);
  await dialog.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('heading', { name: /^Send 1\.00\sUSDT\?$/ }).waitFor();
  await inspect(page, 'console-transfer');
  await page.getByRole('button', { name: /^Send 1\.00\sUSDT$/ }).click();
  await page.getByRole('heading', { name: /^Transfer of 1\.00\sUSDT$/, level: 1 }).waitFor();
});

test('the banner says the mode and how far the test clock was moved, and stays in view', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, 'settings');
  const banner = page.getByRole('complementary', { name: 'Mode' });
  await banner.getByText('Test clock +21 d').waitFor();
  await banner.getByText('Live is not set up here').waitFor();
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  expect((await banner.boundingBox())?.y).toBe(0);
});

test('the chart of Home has dates and a scale, and says each day’s sum to the keyboard', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, 'home');
  const bar = page.getByRole('img', { name: /^\w{3} \d+: \$20.00, 1 payment$/ });
  await bar.focus();
  expect(await page.locator('figcaption').innerText()).toBe(await bar.getAttribute('aria-label'));
  await page.getByText('Last 7 days').waitFor();
  await inspect(page, 'console-home');
});

test('available, reserved and unsettled money add up to all of it', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, 'money');
  const row = page.getByRole('table', { name: 'Balances' }).getByRole('row', { name: /^USDT/ });
  const [available = 0, reserved = 0, unsettled = 0, total = 0] = (
    await row.locator('td.money').allInnerTexts()
  ).map((text) => Number(text.replace(/[^\d.]/g, '')));
  expect(reserved).toBeGreaterThan(0);
  expect(available + reserved + unsettled).toBeCloseTo(total, 6);
});

test('the oldest payout is reached page by page, and the transfers keep their filter and their page', async () => {
  const sums = Array.from({ length: 11 }, (_none, index) => `0.${index + 11}`);
  for (const amount of sums) {
    const body = { amount, currency: 'USDT', walletNetwork: 'tron', walletAddress: address };
    await stage.merchant.transfers.create({ body });
  }
  const payouts = async () => (await stage.merchant.payouts.list({ query: { skip: 100 } })).data;
  await vi.waitFor(async () => {
    const paid = (await payouts()).map(({ amount }) => String(amount));
    expect(paid).toEqual(expect.arrayContaining(sums.map((sum) => String(Number(sum)))));
  }, 20_000);
  const shown = (await payouts()).map(({ amount }) => `${amount.toFixed(2)} USDT`);

  const page = await signInAs('owner', stage, env());
  await go(page, 'money?status=success&page=1');
  const rows = page.getByRole('table', { name: 'All payouts' }).locator('tbody tr');
  const sumsIn = async () =>
    (await rows.locator('td:first-child').allInnerTexts()).map((text) => text.replace(/\s/g, ' ').trim());
  await expect.poll(sumsIn).toEqual(shown.slice(0, 10));
  await inspect(page, 'console-payouts');
  const pager = page.getByRole('navigation', { name: 'All payouts: pages' });
  await pager.getByRole('button', { name: 'Older' }).press('Enter');
  await expect.poll(sumsIn).toEqual(shown.slice(10));
  expect(await pager.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
  expect(new URL(page.url()).search).toBe('?status=success&page=1&payoutsPage=2');
  await page.reload();
  await expect.poll(sumsIn).toEqual(shown.slice(10));
  await page.locator('select[name=status]').selectOption('failed');
  await page.waitForURL((url) => url.search === '?status=failed&payoutsPage=2');
  await page.waitForFunction(() => document.querySelector('main[aria-busy=false]'));
  // Only the list of the filter is empty.
  expect(await page.getByText('Nothing matches these filters.').count()).toBe(1);
  await expect.poll(sumsIn).toEqual(shown.slice(10));
  await pager.getByRole('button', { name: 'Newer' }).press('Enter');
  await page.waitForURL((url) => url.search === '?status=failed');
  await expect.poll(sumsIn).toEqual(shown.slice(0, 10));
});

test('the page of a payment says that the network has dropped its transfer, and does not call it good', async () => {
  const { payment } = await stage.createLocked('USDT', 'tron');
  await stage.send(payment, payment.amount ?? 0);
  await stage.sandbox('blocks', { network: 'tron', count: 3 });
  await until(payment, 'settled');
  await stage.sandbox('reorgs', { network: 'tron', depth: 4 });
  await until(payment, 'reversed');
  const page = await signInAs('owner', stage, env());
  await go(page, `payment/${payment.id}`);
  const row = page.getByRole('table', { name: 'Transfers' }).locator('tbody tr');
  expect(await row.locator('.tag').allInnerTexts()).toEqual(['No longer on the network']);
  expect(await row.locator('.tag.good').count()).toBe(0);
  expect(await row.getByText('Counts').count()).toBe(0);
  await inspect(page, 'console-lost-transfer');
});
