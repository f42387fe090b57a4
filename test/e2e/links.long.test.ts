/** A payment link in a real browser: made in the console, and paid by a stranger on a phone, in three languages. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { checkoutOn } from './checkout.js';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { inspect, qrReader, useStageWithCommands } from './stage.js';

const { stage, env } = useStageWithCommands();

const longMs = 180_000;

async function openConsole(email = 'owner@shop.example'): Promise<Page> {
  const words = ['--merchant', await merchantIdOf(env()), '--email', email, '--role', 'owner'];
  const { signInUrl } = (await runCommand(env(), 'users', 'invite', ...words)) as { signInUrl: string };
  const page = await stage.page({ expectedErrors: /40[0134]/ });
  const { port } = new URL(stage.server.url);
  // Without https, the console works only on localhost.
  await page.goto(signInUrl.replace(/^http:\/\/[^/]+/, `http://localhost:${port}`));
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  return page;
}

/** Somebody with a phone, who has never been here. */
async function openPhone(
  url: string,
  locale: string,
  width = 320,
  expectedErrors = /40[09]|sold_out/,
): Promise<Page> {
  const context = await stage.browser.newContext({
    viewport: { width, height: 700 },
    locale,
    reducedMotion: 'reduce',
    isMobile: true,
    hasTouch: true,
    deviceScaleFactor: 1,
  });
  const page = await stage.page({ context, expectedErrors });
  await page.goto(url);
  return page;
}

const pixelsBeyond = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function pay(page: Page): Promise<void> {
  const checkout = checkoutOn(page);
  await checkout.choose('Tether USD', 'Tron');
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const locked = await stage.verify(id);
  await stage.send(locked, locked.amountDue ?? 0);
  await checkout.reach('success');
}

test(
  'a link is made in the console, and paid by a stranger on a phone',
  async () => {
    const page = await openConsole();
    await page.getByRole('link', { name: 'Payment links' }).first().click();
    await page.getByRole('heading', { name: 'Payment links', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'New payment link…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Workshop ticket');
    await dialog.getByLabel('Description').fill('Saturday, 10 to 16 h, lunch included.');
    await dialog.getByRole('spinbutton', { name: /^Price/ }).fill('12.50');
    await dialog.getByLabel('Most at once').fill('3');
    await dialog.getByLabel('Stock').fill('2');
    await dialog.locator('select[name=ask-email]').selectOption('required');
    await dialog.getByLabel('Fields of your own').fill('Size *\nDelivery day');
    await dialog.getByLabel('Text after payment').fill('See you on Saturday!');
    await inspect(page, 'console-link-form');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Workshop ticket', level: 1 }).waitFor();
    await inspect(page, 'console-link');

    const [{ url, fields } = { url: '', fields: [] }] = (await stage.merchant.links.list({})).data;
    expect(fields.map(({ name, isRequired }) => [name, isRequired])).toEqual([
      ['email', true],
      ['size', true],
      ['delivery_day', false],
    ]);
    const readQr = await qrReader(stage);
    expect(await readQr(await page.locator('.poster svg.qr').screenshot())).toBe(url);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('button', { name: 'Change…' }).isVisible()).toBe(false);
    expect(await page.locator('.poster').isVisible()).toBe(true);
    await page.emulateMedia({ media: 'screen' });

    const phone = await openPhone(url, 'en-GB');
    expect(await pixelsBeyond(phone)).toBe(0);
    await inspect(phone, 'link');
    await phone.setViewportSize({ width: 320, height: 700 });
    await phone.getByLabel('Quantity').fill('2');
    await phone.getByLabel('Email').fill('ada@example.com');
    await phone.getByLabel('Size').fill('M');
    await phone.getByRole('button', { name: 'Continue to payment' }).click();
    await pay(phone);
    await phone.getByText('See you on Saturday!').waitFor();
    expect(await pixelsBeyond(phone)).toBe(0);
    const id = new URL(phone.url()).pathname.split('/').at(-1) ?? '';
    const { data } = await stage.merchant.payments.retrieve({ params: { payment_id: id } });
    expect(data).toMatchObject({
      status: 'success',
      baseAmount: 25,
      baseCurrency: 'USD',
      customer: 'ada@example.com',
      metadata: { size: 'M' },
    });
    expect(data.linkId).toBeDefined();

    // All are sold, and the page says so to the next one.
    const next = await openPhone(url, 'en-GB', 390);
    await next.getByRole('heading', { name: 'Sold out' }).waitFor();
    await page.reload();
    await page.getByText('Workshop ticket').first().waitFor();
    await page.getByRole('button', { name: 'Turn off…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('button', { name: 'Turn on' }).waitFor();
    await next.reload();
    await next.getByRole('heading', { name: 'Not for sale any more' }).waitFor();
    await inspect(next, 'link-closed');
  },
  longMs,
);

test(
  'a payer who chooses the amount reads the page in French and in Arabic, and sees what is wrong',
  async () => {
    const { data: link } = await stage.merchant.links.create({
      body: {
        title: 'Don',
        baseCurrency: 'USD',
        minAmount: 5,
        maxAmount: 500,
        presets: [10, 50],
        fields: [{ name: 'note' }, { name: 'name', isRequired: true }],
      },
    });
    for (const [locale, label, error] of [
      ['fr', 'Nom', 'Saisissez un montant dans les limites.'],
      ['ar', 'الاسم', 'أدخل مبلغًا ضمن الحدود.'],
    ] as const) {
      const phone = await openPhone(link.url, locale, 390);
      await inspect(phone, `link-chosen-${locale}`);
      await phone.setViewportSize({ width: 390, height: 844 });
      // Amounts keep their order in a text that runs from the right.
      expect(await phone.locator('.bounds').textContent()).toMatch(/\u2066.*5.*\u2069.*\u2066.*500.*\u2069/);
      await phone.getByLabel(label).fill('Ada');
      await phone.locator('#amount').fill('4');
      await phone.locator('button[type=submit]').click();
      await phone.getByText(error).waitFor();
      expect(await phone.getByLabel(label).inputValue()).toBe('Ada');
      await inspect(phone, `link-wrong-${locale}`);
      await phone.locator('#amount').fill('7,50');
      await phone.locator('button[type=submit]').click();
      await checkoutOn(phone).reach('choosing-currency');
    }
    const { data } = await stage.merchant.transactions.list({});
    expect(data.filter(({ linkId }) => linkId === link.id).map((one) => one.baseAmount)).toEqual([7.5, 7.5]);
  },
  longMs,
);

test(
  'an invoice is made in the console, printed without the form, and paid',
  async () => {
    const page = await openConsole('accounts@shop.example');
    await page.getByRole('link', { name: 'Payment links' }).first().click();
    await page.getByRole('button', { name: 'New payment link…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Invoice 2026-17');
    await dialog.getByLabel('Lines of an invoice').fill('Repair of a lantern; 2; 10.50\nGlass; 1; 4');
    await dialog.locator('[name=dueAt]').fill('2999-12-31');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Invoice 2026-17', level: 1 }).waitFor();
    await page.getByText('Not paid yet').waitFor();
    const { data } = await stage.merchant.links.list({});
    const { url = '' } = data.find(({ title }) => title === 'Invoice 2026-17') ?? {};

    const customer = await openPhone(url, 'en-GB', 390);
    await inspect(customer, 'invoice');
    await customer.emulateMedia({ media: 'print', colorScheme: 'light' });
    await customer.setViewportSize({ width: 794, height: 1123 });
    if (process.env['SCREENS'] === '1') await customer.screenshot({ path: '.tmp/screens/invoice-print.png' });
    expect(await customer.getByRole('button').count()).toBe(0);
    expect(await customer.getByText(url).isVisible()).toBe(true);
    expect(await customer.getByRole('row', { name: 'Total' }).innerText()).toContain('25');
    await customer.emulateMedia({ media: 'screen' });
    await customer.setViewportSize({ width: 390, height: 844 });
    await customer.getByRole('button', { name: 'Continue to payment' }).click();
    await pay(customer);
    await page.reload();
    await page.getByText('Paid', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Change…' }).click();
    await page.getByRole('dialog').getByLabel('Title').fill('Invoice 2026-17, paid');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Invoice 2026-17, paid', level: 1 }).waitFor();
  },
  longMs,
);

test(
  'the last one goes to the payer who locks first, and another coin keeps what is held',
  async () => {
    const body = { title: 'Lamp', amount: 20, baseCurrency: 'USD', stock: 1 };
    const { data: link } = await stage.merchant.links.create({ body });
    const [one, other] = [await openPhone(link.url, 'en-GB'), await openPhone(link.url, 'en-GB')];
    for (const page of [one, other]) {
      await page.getByRole('button', { name: 'Continue to payment' }).click();
      await checkoutOn(page).reach('choosing-currency');
    }
    await checkoutOn(one).choose('Tether USD', 'Tron');
    await checkoutOn(one).reach('awaiting-funds');
    await other.getByRole('radio', { name: /^Tether USD/ }).click();
    await other.getByRole('radio', { name: /^Tron/ }).click();
    await other.getByText('Nothing is left').waitFor();
    const held = await stage.merchant.links.retrieve({ params: { link_id: link.id } });
    expect(held.data).toMatchObject({ reserved: 1, payments: 2 });
    await one.getByRole('button', { name: 'Use another coin' }).click();
    await one.getByRole('button', { name: 'Yes, choose again' }).click();
    await checkoutOn(one).choose('Bitcoin');
    const { data: again } = await stage.merchant.links.retrieve({ params: { link_id: link.id } });
    expect(again).toMatchObject({ reserved: 1, payments: 2 });
    const { data } = await stage.merchant.transactions.list({ query: { txRef: `link_${link.id}_1:2` } });
    expect(data[0]).toMatchObject({ linkId: link.id, currency: 'BTC', isCurrencyLocked: true });
  },
  longMs,
);
