/** A shop on its first day: each list says what will be there, and leads to the step before. */
import { expect, test } from 'vitest';
import { misfitsOn } from './fitting.js';
import { go, signInAs } from './staff.js';
import { inspect, useStageWithCommands } from './stage.js';

const { stage, env } = useStageWithCommands();

/** By page: a part of each list's sentence, and the link or the button below it. */
const lists: Readonly<Record<string, readonly (readonly [sentence: string, step: string | null])[]>> = {
  payments: [['No payments yet.', null]],
  refunds: [['No refunds.', 'To the payments']],
  money: [
    ['No money yet.', 'To the payments'],
    ['No transfers yet.', 'New transfer'],
    ['No payouts yet.', 'Bank payouts'],
  ],
  exports: [['Nothing waits.', 'To the transfers']],
  banks: [
    ['Nothing waits for the bank.', 'New bank payout'],
    ['No payout to a bank has ended yet.', 'To the balances'],
    ['No bank account yet.', 'New bank account'],
  ],
  books: [['Nothing was booked in this period.', 'This month']],
  'books?days=month': [['Nothing was booked in this period.', 'To the payments']],
  links: [['No payment links yet.', 'New payment link']],
  customers: [['No customers yet.', 'New customer']],
  plans: [['No plans yet.', 'New plan']],
  subscribers: [['No subscribers yet.', 'To the plans']],
  wallets: [['No wallets yet.', 'New wallet']],
  developers: [['Nothing has been sent yet.', 'To the payments']],
};

test('each list of an empty shop says in one sentence or two what comes there, and leads to the next step', async () => {
  const page = await signInAs('owner', stage, env());
  await page.getByText('Nothing to do. Money that came short, late or twice').waitFor();
  for (const [path, expected] of Object.entries(lists)) {
    await go(page, path);
    for (const [sentence, step] of expected) {
      const hint = page.locator('main p', { hasText: sentence });
      expect((await hint.innerText()).length, sentence).toBeGreaterThan(sentence.length + 15);
      if (step === null) continue;
      const link = hint.locator('xpath=following-sibling::a[1]');
      expect(await link.innerText(), `${path}: ${sentence}`).toContain(step);
      const href = await link.getAttribute('href');
      await link.click();
      await page.waitForURL((url) => url.pathname === new URL(href ?? '', url).pathname);
      // A form, or a page.
      if (href?.includes('do=') === true) await page.getByRole('dialog').waitFor();
      await go(page, path);
    }
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await misfitsOn(page), `${path} at ${width}`).toEqual([]);
    }
    await inspect(page, `console-empty-${path}`, ['light']);
  }
});

test('the tag for a page of the shop has its own key, and one press copies it', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, 'payments');
  await page.locator('main pre', { hasText: `public-key="${stage.server.publicKey}"` }).waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy the tag' }).click();
  await page.getByText('Copied').waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    await page.locator('main pre').innerText(),
  );
});

test('filters without a match say so, and are cleared by one press', async () => {
  const page = await signInAs('owner', stage, env());
  const filters = {
    refunds: 'status=paid',
    links: 'state=off',
    subscribers: 'state=ended',
    audit: 'action=key.revoked',
    developers: 'status=failed',
    payments: 'days=last-month',
  };
  for (const [path, query] of Object.entries(filters)) {
    await go(page, `${path}?${query}`);
    await page.getByText('Nothing matches these filters.').first().waitFor();
    await page.getByRole('link', { name: 'Clear the filters' }).first().click();
    await page.waitForURL((url) => url.search === '');
    await page.waitForFunction(() => !document.querySelector('main .wait'));
    await expect.poll(() => page.getByText('Nothing matches these filters.').count()).toBe(0);
  }
});

test('a list of work that waits says that all is done', async () => {
  const page = await signInAs('owner', stage, env());
  await go(page, 'refunds?status=awaiting_approval');
  await page.getByText('✓ No refund waits for approval.').waitFor();
  await go(page, 'payments?review=late');
  await page.getByText('✓ No payment of this kind needs attention.').waitFor();
  await inspect(page, 'console-done');
});

test('somebody who may not make a record is not led to its form', async () => {
  const page = await signInAs('accountant', stage, env());
  for (const path of ['links', 'customers', 'plans', 'wallets']) {
    await go(page, path);
    await page.locator('main .empty p').first().waitFor();
    expect(await page.locator('main .empty a').count(), path).toBe(0);
  }
});

test('the page of a customer without payments leads to a payment and to the plans', async () => {
  const { data: customer } = await stage.merchant.customers.create({ body: { email: 'new@example.com' } });
  const page = await signInAs('owner', stage, env());
  await go(page, `customer/${customer.id}`);
  const linkAfter = (sentence: string) =>
    page.locator('main p', { hasText: sentence }).locator('xpath=following-sibling::a[1]');
  await linkAfter('No subscriptions.').click();
  await page.getByRole('heading', { name: 'Payment plans', level: 1 }).waitFor();
  await page.goBack();
  await linkAfter('No payments yet.').click();
  await page.getByRole('dialog').waitFor();
  expect(new URL(page.url()).pathname).toBe('/console/test/payments');
});
