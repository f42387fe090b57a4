/** Ways a payment can end besides plain success, on the demo page. `demo-endings.soak.test.ts` has more of them. */
import { expect, test } from 'vitest';
import { checkoutOn, orderAt, shopOn } from './checkout.js';
import { newestState, testEndings } from './endings.js';
import { openShop } from './shop-page.js';
import { inspect, useStage } from './stage.js';

const stage = useStage();

testEndings(stage, [
  {
    title: 'a part arrives in time',
    coin: ['Litecoin'],
    steps: ['half', 'partially-paid', 'mine', 'mine', 'deadline', 'expired'],
    state: 'expired_partial',
    sentence: /arrived in time.*ask for it back/,
  },
  {
    title: 'it is cancelled, and paid afterwards',
    coin: ['Ether', 'Base'],
    steps: ['cancel', 'cancelled', 'exact'],
    state: 'cancelled_paid',
    sentence: /came, but the payment is cancelled/,
  },
  {
    title: 'all of it arrives late, and is worth the price',
    coin: ['Tether USD', 'Polygon'],
    steps: ['deadline', 'expired', 'exact', 'success'],
    state: 'settled_late',
    sentence: /came after the time limit, and the shop has accepted it/,
    delivers: true,
  },
]);

test('a payment is cancelled before its price is fixed, and paid again with one click', async () => {
  const page = await stage.page();
  const shop = await orderAt(stage.server.url, page);
  await shop.act();
  await shop.reach('choosing-currency');
  await shop.part('cancel').click();
  await shop.reach('cancelled');
  expect(await shop.sentence()).not.toBe('');
  await inspect(page, 'demo-cancelled');
  await shop.act();
  await shop.choose('Litecoin');
  await shop.simulate('exact');
  await shop.reach('success');
  expect(await shop.verdict()).toMatch(/^Deliver the order/);
});

test('a settled payment that the chain loses is not delivered, and is shown as lost', async () => {
  const page = await stage.page();
  const shop = await orderAt(stage.server.url, page);
  await shop.act();
  await shop.choose('Litecoin');
  await shop.simulate('exact');
  await shop.reach('success');
  expect(await shop.verdict()).toMatch(/^Deliver the order/);
  await shop.simulate('reorg');
  await expect.poll(() => newestState(stage), { timeout: 15_000 }).toBe('reversed');
  await page.evaluate(() => document.querySelector('crypto-checkout')?.refresh());
  await shop.reach('error');
  await expect.poll(() => shop.verdict()).toMatch(/^Do not deliver: error \(reversed\)/);
  expect(await shop.rules()).not.toContain('status');
  await page.reload();
  const reopened = shopOn(page);
  await reopened.reach('error');
  expect(await reopened.sentence()).toMatch(/reversed your payment/);
  await inspect(page, 'demo-reversed');
});

test('a transfer that a reorganisation drops before it is confirmed is waited for again', async () => {
  const page = await stage.page();
  const shop = await orderAt(stage.server.url, page);
  await shop.act();
  await shop.choose('Bitcoin');
  await shop.simulate('half');
  await shop.reach('partially-paid');
  await shop.simulate('mine');
  await shop.simulate('reorg');
  await shop.reach('awaiting-funds');
  await shop.simulate('exact');
  await shop.reach('success');
});

test('a receipt is printed dark on white, also by a dark page in its own colours', async () => {
  const { payment } = await stage.createLocked('USDT', 'tron');
  await stage.send(payment, payment.amountDue ?? 0);
  const page = await stage.page();
  const tag = `<crypto-checkout theme="dark" public-key="${stage.server.publicKey}" payment-id="${payment.id}"
    no-redirect></crypto-checkout>`;
  await openShop(stage, page, tag);
  // A page's style sheet, as a shop has it.
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      'crypto-checkout { --checkout-background: #102a22; --checkout-text: #fffbe0; --checkout-muted: #cce }',
    );
    document.adoptedStyleSheets = [sheet];
  });
  const checkout = checkoutOn(page);
  await checkout.reach('success');
  await checkout.part('receipt').waitFor();
  await page.emulateMedia({ media: 'print' });
  const colors = await page.evaluate(() => {
    const root = document.querySelector('crypto-checkout')?.shadowRoot;
    const lightness = (color: string) =>
      Math.max(...(/\d+, \d+, \d+/.exec(color)?.[0].split(', ').map(Number) ?? [NaN]));
    const texts = ['.header b', '.total b', 'h2', '.paid b', 'dt', 'dd', '.test'].map((css) => {
      const element = root?.querySelector(css);
      return [css, lightness(element ? getComputedStyle(element).color : '')] as const;
    });
    const card = root?.querySelector('.card');
    return { texts, paper: lightness(card ? getComputedStyle(card).backgroundColor : '') };
  });
  expect(colors.paper).toBe(255);
  for (const [css, lightness] of colors.texts) expect(lightness, css).toBeLessThan(120);
});
