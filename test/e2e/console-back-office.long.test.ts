/** Work that needed a shell, done in the console: erasing a customer, payouts to a bank, and the month of the books; and records that show each other. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { go, signInAs } from './staff.js';
import { inspect, useStageWithCommands } from './stage.js';

const { stage, env } = useStageWithCommands();

const grace = { email: 'grace@example.com', name: 'Grace Example' };
let reference: string;

/** An order that is paid in full. */
async function paidOrder(customer: { email: string; name: string }): Promise<string> {
  const { payment } = await stage.create({ customer });
  await settle(payment.id);
  return payment.txRef ?? '';
}

async function settle(id: string): Promise<void> {
  const params = { payment_id: id };
  const { payments } = stage.merchant;
  await payments.setCurrency({ params: { ...params, currency: 'USDT', network: 'tron' } });
  const { data } = await payments.lockCurrency({ params });
  await stage.send(data, data.amount ?? 0);
  await stage.sandbox('blocks', { network: 'tron', count: 30 });
  await vi.waitFor(async () => expect((await stage.verify(id)).state).toBe('settled'), 20_000);
}

beforeAll(async () => {
  reference = await paidOrder(grace);
  await paidOrder(grace);
}, 90_000);

const press = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) }).click();
const fill = (page: Page, name: string | RegExp, value: string) =>
  page
    .getByRole('dialog')
    .getByRole(name === 'Amount' ? 'spinbutton' : 'textbox', {
      name,
      ...(typeof name === 'string' && { exact: true }),
    })
    .fill(value);
const available = async () =>
  (await stage.merchant.balances.list({})).data.find(({ currency }) => currency === 'USDT')?.availableBalance;

test('a bank payout is recorded with a preview, sent with the bank’s number, or fails and gives its amount back', async () => {
  const page = await signInAs('manager', stage, env());
  const before = (await available()) ?? 0;
  await go(page, 'money');
  await page.getByRole('link', { name: 'Bank payouts' }).first().click();
  await page.getByText('No bank account yet').waitFor();
  await press(page, 'New bank account…');
  await fill(page, 'Account holder', 'Ada Example');
  await fill(page, 'Account number', 'DE89 3704 0044 0532 0130 00');
  await fill(page, /^Bank/, 'Sparkasse Köln');
  await fill(page, /^Country/, 'DE');
  await fill(page, 'Currency of the account', 'USD');
  await press(page, 'Save');
  await page.getByText('Sparkasse Köln').first().waitFor();

  for (const [sum, text] of [
    ['12.5', 'Rent of May'],
    ['7', 'Rent of June'],
  ] as const) {
    await press(page, 'New bank payout…');
    await fill(page, 'Amount', sum);
    await fill(page, 'Text on the statement', text);
    await press(page, 'Next');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: /^Take .*USDT from the balance\?$/ }).waitFor();
    for (const fact of ['Ada Example', 'Sparkasse Köln', text])
      await dialog.getByRole('definition').getByText(fact, { exact: true }).waitFor();
    if (text === 'Rent of May') await inspect(page, 'console-bank-payout');
    await press(page, /^Take /);
    await page.getByRole('row', { name: text }).waitFor();
  }
  await page.getByText(/^19.50\sUSDT left the balance/).waitFor();
  expect(await available()).toBeCloseTo(before - 19.5, 6);
  await page.getByText('Less than 1 h').first().waitFor();

  const rowOf = (text: string) => page.getByRole('row', { name: text });
  const act = async (text: string, name: string) => {
    const button = rowOf(text).getByRole('button', { name });
    if (!(await button.isVisible())) await rowOf(text).getByRole('button', { name: 'More actions' }).click();
    await button.click();
  };
  await act('Rent of May', 'It was sent…');
  await fill(page, /^Number at the bank/, 'FT26001');
  await press(page, 'It was sent');
  await rowOf('Rent of May').getByText('Sent', { exact: true }).waitFor();
  await rowOf('Rent of May').getByText('FT26001').waitFor();
  await act('Rent of June', 'It failed…');
  await fill(page, 'Reason', 'The account is closed');
  await press(page, 'It failed');
  await rowOf('Rent of June').getByText('Failed', { exact: true }).waitFor();
  await page.getByText('Nothing waits for the bank.').waitFor();
  expect(await available()).toBeCloseTo(before - 12.5, 6);
  await inspect(page, 'console-banks');
});

test('an accountant sees bank payouts, and has no button for them', async () => {
  const page = await signInAs('accountant', stage, env());
  await go(page, 'banks');
  await page.getByRole('row', { name: 'Rent of May' }).waitFor();
  for (const name of ['New bank payout…', 'It was sent…', 'New bank account…'])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
});

test('the oldest of many bank accounts is reached page by page, and a payout can go to each of them', async () => {
  const numbers = Array.from({ length: 26 }, (_none, index) => `DE8937040044053201${3001 + index}`);
  for (const accountNumber of numbers) {
    const bank = {
      accountBank: 'Sparkasse Bonn',
      country: 'DE',
      currency: 'EUR',
      accountName: 'Ada Example',
    };
    await stage.merchant.bankAccounts.create({ body: { ...bank, accountNumber } });
  }
  const { data: all } = await stage.merchant.bankAccounts.list({ query: { skip: 100 } });
  const oldest = all.at(-1)?.accountNumber ?? '';
  const page = await signInAs('manager', stage, env());
  await go(page, 'banks');
  const rows = page.getByRole('table', { name: 'Bank accounts' }).locator('tbody tr');
  const pager = page.getByRole('navigation', { name: 'Bank accounts: pages' });
  await expect.poll(() => rows.count()).toBe(25);
  await inspect(page, 'console-bank-accounts');
  const older = pager.getByRole('button', { name: 'Older' });
  await older.scrollIntoViewIfNeeded();
  const heading = page.getByRole('heading', { name: 'Bank accounts' });
  const isInView = () => heading.evaluate((one) => one.getBoundingClientRect().top >= 56);
  expect(await isInView()).toBe(false);
  await older.press('Enter');
  await expect.poll(() => rows.count()).toBe(all.length - 25);
  await rows.last().getByText(oldest).waitFor();
  // The list begins in view, its range is read out, and the next press is where the last one was.
  expect(await isInView()).toBe(true);
  await pager.getByRole('status').getByText(`26–${all.length} of ${all.length}`).waitFor();
  expect(await older.evaluate((one) => one === document.activeElement)).toBe(true);
  expect(new URL(page.url()).search).toBe('?accountsPage=2');
  await press(page, 'New bank payout…');
  const choices = page.getByRole('dialog').locator('select[name=bankAccountId] option');
  await choices.first().waitFor({ state: 'attached' });
  const offered = await choices.evaluateAll((options) => options.map((one) => one.getAttribute('value')));
  expect(offered).toEqual(all.map(({ id }) => id));
  await press(page, 'Close');

  // A new account is the newest: the list turns to its page.
  await press(page, 'New bank account…');
  await fill(page, 'Account holder', 'Ada Example');
  await fill(page, 'Account number', 'DE89370400440532019999');
  await fill(page, /^Bank/, 'Sparkasse Bonn');
  await fill(page, /^Country/, 'DE');
  await fill(page, 'Currency of the account', 'EUR');
  await press(page, 'Save');
  await rows.first().getByText('DE89370400440532019999').waitFor();
  expect(new URL(page.url()).search).toBe('');
});

test('bank payouts have pages of 25; a full list says that there may be others, and the sum is then of those listed', async () => {
  const page = await signInAs('manager', stage, env());
  let count = 99;
  // One real payout, many times: a hundred would take far longer to record and to end.
  await page.route('**/console/api/bank-payouts', async (route) => {
    // The console answers its own pages only, and this header of theirs is lost here.
    const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' };
    const reply = (await (await route.fetch({ headers })).json()) as { data: { ended: readonly object[] } };
    const many = Array.from({ length: count }, () => ({ ...reply.data.ended[0], isOwn: false }));
    await route.fulfill({ json: { ...reply, data: { waiting: many, ended: many } } });
  });
  const limits = page.getByText('At most 100 are listed here');
  await go(page, 'banks');
  const rows = page.getByRole('table', { name: 'Waiting for the bank' }).locator('tbody tr');
  const pager = page.getByRole('navigation', { name: 'Waiting for the bank: pages' });
  await expect.poll(() => rows.count()).toBe(25);
  expect(await limits.count()).toBe(0);
  await page.getByText(/^693\.00\sUSDT left the balance when the payouts were recorded\./).waitFor();
  // Once for all rows, not in each of them.
  expect(await page.getByText(/server’s operator/).count()).toBe(1);
  for (const range of ['26–50 of 99', '51–75 of 99', '76–99 of 99']) {
    // Those that have waited longest come first.
    await pager.getByRole('button', { name: 'Newer' }).press('Enter');
    await pager.getByText(range).waitFor();
  }
  expect(await rows.count()).toBe(24);
  expect(new URL(page.url()).search).toBe('?waitingPage=4');
  await inspect(page, 'console-many-payouts');
  count = 100;
  await go(page, 'banks');
  expect(await limits.allInnerTexts()).toEqual([
    'At most 100 are listed here: those that have waited longest. Any others follow as these end.',
    'At most 100 are listed here: the newest. The page “Money” lists all payouts.',
  ]);
  await page.getByText(/^700\.00\sUSDT left the balance for the payouts that are listed\./).waitFor();
  count = 25;
  await go(page, 'banks');
  await expect.poll(() => rows.count()).toBe(25);
  expect(await pager.count()).toBe(0);
});

test('customers, plans and subscribers show each other by name, with payments and sums', async () => {
  const email = 'sub@example.com';
  await paidOrder({ email, name: 'Mary Example' });
  const { data: plan } = await stage.merchant.paymentPlans.create({
    body: {
      frequency: 'monthly',
      planName: 'Lamp oil',
      numberOfTimesToCharge: 12,
      amount: 20,
      currency: 'USD',
      currencies: ['USDT'],
    },
  });
  await stage.merchant.subscribers.create({ params: { payment_plan_id: plan.id }, body: { email } });
  const [charge] = (await stage.merchant.transactions.list({ query: { customer: email } })).data;
  await settle(charge?.id ?? '');

  const page = await signInAs('support', stage, env());
  await go(page, 'subscribers');
  const row = page.getByRole('row', { name: /^Mary Example.*Lamp oil/ });
  await row.getByText('$20.00 (1 ×)').waitFor();
  await row.getByRole('link', { name: 'Lamp oil' }).click();
  await page.getByRole('heading', { name: 'Lamp oil', level: 1 }).waitFor();
  await page.getByText('1 active, 0 ended').waitFor();
  await page.getByText('$20.00, 1 charge', { exact: true }).waitFor();
  await inspect(page, 'console-plan');
  await page.getByRole('link', { name: 'Mary Example' }).click();
  await page.getByRole('heading', { name: email, level: 1 }).waitFor();
  await page.getByText('$40.00, 2 payments').waitFor();
  await page.getByRole('table', { name: 'Subscriptions' }).getByRole('link', { name: 'Lamp oil' }).waitFor();
  const payments = page.getByRole('table', { name: 'Last payments' }).getByRole('row');
  await expect.poll(() => payments.count()).toBe(3);
  await inspect(page, 'console-customer');
  await go(page, 'subscribers');
  await inspect(page, 'console-subscribers');
});

test('a receipt is copied as a text and as a link, and the page says why no mail is sent', async () => {
  const [payment] = (await stage.merchant.transactions.list({ query: { txRef: reference } })).data;
  const page = await signInAs('support', stage, env());
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await go(page, `payment/${payment?.id}`);
  await press(page, 'Receipt…');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('No mail server is set up here').waitFor();
  expect(await dialog.getByRole('button', { name: 'Send by e-mail' }).count()).toBe(0);
  const text = `Receipt for ${reference}: $20.00, paid with 20.00\u00a0USDT on Tron on`;
  await dialog.getByRole('button', { name: `Copy ${text}` }).click();
  await page.getByText('Copied', { exact: true }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.replaceAll('\u00a0', ' ')).toContain(text.replaceAll('\u00a0', ' '));
  const url = copied.split(' ').at(-1) ?? '';
  expect(new URL(url).pathname).toBe(`/receipt/${payment?.id}`);
  expect((await fetch(url)).status).toBe(200);
  await dialog.getByText('No mail server is set up here').waitFor();
  await inspect(page, 'console-receipt');
});

test('an accountant saves a year and a month as files, and sees their days', async () => {
  const page = await signInAs('accountant', stage, env());
  await go(page, 'books');
  await page.getByLabel('Period').selectOption('month');
  await page.getByRole('table', { name: 'Bookings' }).getByRole('row').nth(1).waitFor();
  const year = new Date().getUTCFullYear();
  await page.getByLabel('Period').selectOption('year');
  await page.getByText(`Jan 1 – Dec 31, ${year}, UTC`).first().waitFor();
  const ofYear = page.waitForEvent('download');
  await press(page, /^Save/);
  await page.getByRole('dialog').getByText(`Jan 1 – Dec 31, ${year}, UTC`).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click();
  expect((await ofYear).suggestedFilename()).toBe(`books-test-${year}-01-01_${year}-12-31.csv`);
  await page.getByLabel('Period').selectOption('month');
  await page.waitForURL((url) => url.searchParams.get('days') === 'month');
  await page.waitForFunction(() => document.querySelector('main[aria-busy=false]'));
  const saved = page.waitForEvent('download');
  await press(page, /^Save/);
  await page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click();
  expect((await saved).suggestedFilename()).toMatch(/^books-test-\d{4}-\d\d\.csv$/);
});

test('a customer is erased after the address is typed, and only then; orders keep their sums', async () => {
  const [customer] = (await stage.merchant.customers.list({ query: { email: grace.email } })).data;
  const support = await signInAs('support', stage, env());
  await go(support, `customer/${customer?.id}`);
  await support.getByText(grace.email).first().waitFor();
  expect(await support.getByRole('button', { name: 'Erase…' }).count()).toBe(0);

  const page = await signInAs('manager', stage, env());
  await go(page, `customer/${customer?.id}`);
  await press(page, 'Erase…');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: `Erase ${grace.email}?` }).waitFor();
  await dialog.getByText('2 lose the payer’s name and address').waitFor();
  await inspect(page, 'console-erase');
  await fill(page, 'Type the e-mail address to confirm', 'somebody@else.example');
  await press(page, 'Erase for good');
  await dialog.getByText('Is not the address of this customer').waitFor();
  await press(page, 'Close');
  expect((await stage.merchant.customers.list({ query: { email: grace.email } })).data).toHaveLength(1);

  await press(page, 'Erase…');
  await fill(page, 'Type the e-mail address to confirm', grace.email.toUpperCase());
  await press(page, 'Erase for good');
  await dialog.getByRole('heading', { name: 'The customer is erased' }).waitFor();
  await inspect(page, 'console-erased');
  await press(page, 'Close');
  await page.getByRole('heading', { name: /^erased-.*@erased\.invalid$/ }).waitFor();
  expect(await page.getByRole('button', { name: 'Erase…' }).count()).toBe(0);
  expect((await stage.merchant.customers.list({ query: { email: grace.email } })).data).toEqual([]);
  await go(page, `payments?q=${reference}`);
  // The one that the search finds is opened.
  await page.getByRole('heading', { name: `Payment ${reference}` }).waitFor();
  await page.getByText('$20.00', { exact: true }).first().waitFor();
  expect(await page.getByText('Grace').count()).toBe(0);
});
