/** The checkout in other languages on the build: from right to left, longer than English, and when a language does not load. */
import { expect, test } from 'vitest';
import { checkoutOn } from './checkout.js';
import { inspect, useStage } from './stage.js';

const stage = useStage({ blockIntervalMs: 0 });

test('a payment in Arabic, from the link to success', async () => {
  const { payment, url } = await stage.create();
  const page = await stage.page();
  await page.goto(`${url}?locale=ar`);
  const checkout = checkoutOn(page);
  await checkout.reach('choosing-currency');
  const group = checkout.element.getByRole('radiogroup', { name: 'العملة' });
  await group.getByRole('radio', { name: /^Tether/ }).click();
  await checkout.reach('choosing-network');
  await inspect(page, 'arabic-choosing-network');
  await checkout.element
    .getByRole('radiogroup', { name: 'الشبكة' })
    .getByRole('radio', { name: /^Tron/ })
    .click();
  await checkout.reach('awaiting-funds');
  await checkout.part('qr').waitFor();
  await checkout.part('exchange').locator('summary').click();
  await checkout.part('time-log').locator('summary').click();
  await inspect(page, 'arabic-awaiting-funds');
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  expect(await page.title()).toMatch(/^الدفع إلى /);
  const locked = await stage.verify(payment.id);
  await stage.send(locked, locked.amount ?? 0);
  await stage.sandbox('blocks', { network: 'tron', count: 3 });
  await checkout.reach('success');
  expect(await checkout.part('heading').innerText()).toBe('اكتمل الدفع');
  await inspect(page, 'arabic-success');
});

test('texts that are 40 % longer, from right to left', async () => {
  const { url } = await stage.createLocked('USDT', 'tron');
  const page = await stage.page();
  await page.goto(`${url}?locale=ar-XB`);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  await checkout.part('qr').waitFor();
  await checkout.part('exchange').locator('summary').click();
  expect(await checkout.part('heading').innerText()).toMatch(/^\[Séènd/);
  await inspect(page, 'pseudo-awaiting-funds');
});

test('a language that does not load leaves the payment in English, and it can be paid', async () => {
  const { payment, url } = await stage.create();
  const page = await stage.page({ expectedErrors: /ERR_FAILED|Failed to load resource/ });
  await page.route(/\/chunks\/fr-/, (route) => route.abort());
  await page.goto(`${url}?locale=fr-CA`);
  const checkout = checkoutOn(page);
  await checkout.choose('Tether', 'Tron');
  // Numbers stay as the page asks for them.
  expect(await checkout.sentence()).toMatch(/^Send exactly 20(?:,\d+)? USDT on Tron before /);
  const card = checkout.part('card');
  // A screen reader on a French page must read it as English.
  expect([await card.getAttribute('lang'), await card.getAttribute('dir')]).toEqual(['en', 'ltr']);
  const locked = await stage.verify(payment.id);
  await stage.send(locked, locked.amount ?? 0);
  await stage.sandbox('blocks', { network: 'tron', count: 3 });
  await checkout.reach('success');
  expect(await checkout.part('heading').innerText()).toBe('Payment complete');
});

test('a language that hangs delays the page by a moment only', async () => {
  const { url } = await stage.createLocked('USDT', 'tron');
  const page = await stage.page();
  await page.route(/\/chunks\/sw-/, () => {});
  await page.goto(`${url}?locale=sw`);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  expect(await checkout.part('heading').innerText()).toBe('Send your payment');
});

test('a payment by a French browser requests only French', async () => {
  const { url } = await stage.createLocked('USDT', 'tron');
  const context = await stage.browser.newContext({ locale: 'fr-CA' });
  const page = await stage.page({ context });
  const loaded: string[] = [];
  page.on('request', (request) =>
    loaded.push(/\/chunks\/([a-z]{2}(?:-after-qr)?)-[\w-]{6}\.js/.exec(request.url())?.[1] ?? ''),
  );
  await page.goto(url);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  await checkout.part('time-log').waitFor();
  expect(await checkout.sentence()).toMatch(
    /^Envoyez exactement 20(?:,\d+)? USDT sur Tron avant \d+ h \d+\.$/,
  );
  expect([...new Set(loaded)].filter((name) => name !== '').sort()).toEqual(['fr', 'fr-after-qr']);
  await context.close();
});
