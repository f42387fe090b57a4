/** Every way a payment can end besides plain success, on the demo page: it says the truth, and so does the shop. */
import type { CheckoutStatus } from 'crypto-checkout';
import type { PaymentState } from 'crypto-checkout/contract';
import { expect, test } from 'vitest';
import type { SimulationName } from '../../demo/shop-client.js';
import { checkoutOn, orderAt, shopOn } from './checkout.js';
import { openShop } from './shop-page.js';
import { inspect, useStage } from './stage.js';

const stage = useStage();

interface Ending {
  readonly title: string;
  readonly coin: readonly [coin: string, network?: string];
  /** What happens once the address is shown, step by step. */
  readonly steps: readonly (SimulationName | CheckoutStatus | 'cancel')[];
  readonly state: PaymentState;
  /** What the page says about it. */
  readonly sentence: RegExp;
  readonly delivers?: boolean;
}

const endings: readonly Ending[] = [
  {
    title: 'nothing arrives in time',
    coin: ['Tether USD', 'Tron'],
    steps: ['deadline', 'expired'],
    state: 'expired',
    sentence: /Nothing arrived in time/,
  },
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
    title: 'more than enough arrives',
    coin: ['USD Coin', 'Ethereum'],
    steps: ['over', 'success'],
    state: 'settled_over',
    sentence: /was due\. The shop has the excess/,
    delivers: true,
  },
  {
    title: 'all of it arrives late, and is worth the price',
    coin: ['Tether USD', 'Polygon'],
    steps: ['deadline', 'expired', 'exact', 'success'],
    state: 'settled_late',
    sentence: /came after the time limit, and the shop has accepted it/,
    delivers: true,
  },
  {
    title: 'a part arrives late',
    coin: ['BNB'],
    steps: ['deadline', 'expired', 'half'],
    state: 'expired_late',
    sentence: /came too late/,
  },
  {
    title: 'another coin arrives',
    coin: ['TRON'],
    steps: ['wrong', 'mine', 'mine', 'deadline', 'error'],
    state: 'invalid',
    sentence: /^The shop received .* instead of TRX/,
  },
];

test.each(endings)('$title: $state', async ({ coin, steps, state, sentence, delivers = false }) => {
  const page = await stage.page();
  const shop = await orderAt(stage.server.url, page);
  await shop.act();
  await shop.choose(...coin);
  for (const step of steps) {
    if (step === 'cancel') {
      await shop.part('cancel').click();
      await shop.part('confirm').click();
    } else if (isSimulation(step)) await shop.simulate(step);
    else await shop.reach(step);
  }
  await expect.poll(() => shop.sentence(), { timeout: 15_000 }).toMatch(sentence);
  expect(await newestState()).toBe(state);
  expect(await shop.part('qr').count(), 'no QR code for an old address').toBe(0);
  expect(await shop.part('address').count()).toBe(0);
  await shop.verify();
  expect(await shop.verdict()).toMatch(delivers ? /^Deliver the order/ : /^Do not deliver/);
  await inspect(page, `demo-${state.replaceAll('_', '-')}`);
});

test('a payment is cancelled before its price is fixed, and paid anew with one click', async () => {
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
  await expect.poll(newestState, { timeout: 15_000 }).toBe('reversed');
  await shop.verify();
  expect(await shop.verdict()).toMatch(/^Do not deliver: error \(reversed\)/);
  await page.reload();
  const reopened = shopOn(page);
  await reopened.reach('error');
  expect(await reopened.sentence()).toMatch(/took your payment back/);
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

function isSimulation(step: string): step is SimulationName {
  return ['exact', 'half', 'over', 'wrong', 'mine', 'reorg', 'deadline'].includes(step);
}

/** By the API: the state of the newest transaction, which is the order's. */
async function newestState(): Promise<PaymentState | undefined> {
  const { data } = await stage.merchant.transactions.list({ query: { skip: 1 } });
  return data[0]?.state;
}
