/**
 * The complete flow for payers without a mouse, and at 400 % zoom: everything can be reached, and nothing is cut off.
 */
import type { CheckoutStatus } from 'crypto-checkout';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { checkoutOn } from './checkout.js';
import { openShop, tagOf } from './shop-page.js';
import { useStage } from './stage.js';

// Blocks come on request, so that each state stays until it was checked.
const stage = useStage({ blockIntervalMs: 0 });

const newestPayment = async () => {
  const [payment] = (await stage.merchant.transactions.list({ query: { skip: 1 } })).data;
  if (!payment) throw new Error('There is no payment');
  return payment;
};

/** The focused element, inside shadow roots too. */
function focusOn(page: Page) {
  return page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    if (!(element instanceof HTMLElement)) return { name: '', isLost: true, isVisible: false };
    const root = element.getRootNode() as Document | ShadowRoot;
    const labels = element.getAttribute('aria-labelledby')?.split(' ') ?? [];
    const label = labels.map((id) => root.getElementById(id)?.textContent ?? '').join(' ');
    const name = (element.getAttribute('aria-label') ?? (label || element.innerText)).trim();
    // An option draws the outline for its radio button. A heading gets focus for screen readers, and does nothing.
    const drawn = element.closest('.option') ?? element;
    const { outlineStyle, outlineWidth } = getComputedStyle(drawn);
    const isHeading = element.tagName === 'H2';
    return {
      name,
      isLost: element === document.body,
      isVisible: isHeading || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2),
    };
  });
}

/** Tabs to the control of this name. Each stop on the way shows its focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let tabs = 0; tabs < 40; tabs += 1) {
    await page.keyboard.press('Tab');
    const focus = await focusOn(page);
    if (focus.isLost) continue;
    expect(focus.isVisible, `the focus on "${focus.name}" can be seen`).toBe(true);
    if (name.test(focus.name)) return;
  }
  throw new Error(`No ${String(name)} within 40 tab stops`);
}

test(
  'a payment using only the keyboard, from the pay button to the receipt',
  { timeout: 120_000 },
  async () => {
    const page = await stage.page();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await openShop(stage, page, tagOf(stage, 'keyboard'));
    const checkout = checkoutOn(page);
    const reach = async (status: CheckoutStatus) => {
      await checkout.reach(status);
      expect((await focusOn(page)).isLost, `the focus is lost at ${status}`).toBe(false);
    };
    await checkout.reach('idle');
    await tabTo(page, /^Pay \$/);
    await page.keyboard.press('Space');
    await reach('choosing-currency');
    await tabTo(page, /^Tether USD/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await reach('choosing-currency');
    await page.keyboard.press('Enter');
    await reach('choosing-network');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await tabTo(page, /^Back$/);
    await page.keyboard.press('Enter');
    await reach('choosing-currency');
    await tabTo(page, /^Continue$/);
    await page.keyboard.press('Enter');
    await reach('choosing-network');
    await page.keyboard.press('Space');
    await reach('awaiting-funds');
    await checkout.part('time-log').waitFor();
    await tabTo(page, /^Copy amount/);
    await page.keyboard.press('Enter');
    await checkout.part('notice').filter({ hasText: /./ }).waitFor();
    await tabTo(page, /^Paying from an exchange/);
    await page.keyboard.press('Space');
    await page.getByText(/must show/).waitFor();
    await tabTo(page, /^Pay on your phone$/);
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: 'QR code: Pay on your phone' }).waitFor();
    await tabTo(page, /^Check my transfer$/);
    await page.keyboard.press('Enter');
    await checkout.part('transfer-hash').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('ab'.repeat(32));
    await page.keyboard.press('Enter');
    await checkout
      .part('transfer-answer')
      .filter({ hasText: /does not know it yet/ })
      .waitFor();
    expect(await checkout.element.getAttribute('status')).toBe('awaiting-funds');
    await tabTo(page, /^Check now$/);
    await page.keyboard.press('Enter');
    await checkout
      .part('check')
      .filter({ hasText: /Nothing seen yet/ })
      .waitFor();
    await tabTo(page, /^Cancel/);
    await page.keyboard.press('Enter');
    await checkout.part('question').waitFor();
    expect((await focusOn(page)).name, 'the question has the focus').toMatch(/keep this payment/);
    await page.keyboard.press('Enter');
    await checkout.part('question').waitFor({ state: 'detached' });
    expect((await focusOn(page)).name, 'the focus is back').toMatch(/^Cancel/);
    const payment = await newestPayment();
    await stage.send(payment, '5');
    await reach('partially-paid');
    // One more than is due, so that the payer has to contact the shop.
    await stage.send(payment, ((await stage.verify(payment.id)).amountDue ?? 0) + 1);
    await reach('confirming');
    const { currencyNetwork: network = '' } = await stage.verify(payment.id);
    await stage.sandbox('blocks', { network, count: 3 });
    await reach('success');
    await tabTo(page, /^Copy message for the shop$/);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain(payment.id);
    await tabTo(page, /^Details$/);
    await page.keyboard.press('Enter');
    await page.getByRole('definition').filter({ hasText: payment.id }).waitFor();
    const receipt = page.waitForEvent('popup');
    await tabTo(page, /^Receipt$/);
    await page.keyboard.press('Enter');
    await (await receipt).getByText(payment.id).first().waitFor();
    await (await receipt).close();
    await page.bringToFront();
    const saved = page.waitForEvent('download');
    await tabTo(page, /^Save/);
    await page.keyboard.press('Enter');
    expect((await saved).suggestedFilename()).toMatch(/\.txt$/);
    await reach('success');
  },
);

test('from the demo shop’s address to the first payment, the keyboard takes six Tabs at most', async () => {
  const page = await stage.page();
  await page.goto(stage.server.url);
  const checkout = checkoutOn(page);
  await checkout.reach('idle');
  let tabs = 0;
  const tabUntil = async (isThere: (name: string) => boolean) => {
    do {
      await page.keyboard.press('Tab');
      tabs += 1;
      expect(tabs, 'Tabs so far').toBeLessThanOrEqual(6);
    } while (!isThere((await focusOn(page)).name));
  };
  await tabUntil((name) => name.startsWith('Pay '));
  await page.keyboard.press('Enter');
  await checkout.reach('choosing-currency');
  await tabUntil((name) => name.startsWith('Tether USD'));
  await page.keyboard.press('Enter');
  await checkout.reach('choosing-network');
  await page.keyboard.press('Enter');
  await checkout.reach('awaiting-funds');
  console.log(`${tabs} Tabs to the first payment`);
});

/** Elements that are wider than the page, or cannot be scrolled into view, by their text. */
function outOfReach(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const root = document.querySelector('crypto-checkout')?.shadowRoot;
    if (!root) return ['the checkout'];
    const faults: string[] = [];
    if (document.documentElement.scrollWidth > innerWidth) faults.push('the page scrolls sideways');
    for (const element of root.querySelectorAll<HTMLElement>('form *')) {
      if (!element.checkVisibility() || element.closest('.unseen, svg')) continue;
      const { left, right, width } = element.getBoundingClientRect();
      const name = `${element.tagName} ${element.innerText}`.slice(0, 60);
      if (width > 0 && (left < -0.5 || right > innerWidth + 0.5)) faults.push(`beyond the edge: ${name}`);
      if (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== 'visible')
        faults.push(`cut off: ${name}`);
      if (!element.matches('button, a, summary, input')) continue;
      element.scrollIntoView({ block: 'center' });
      const box = element.getBoundingClientRect();
      const hit = root.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      if (!hit || !(element.contains(hit) || hit.contains(element))) faults.push(`covered: ${name}`);
    }
    return faults;
  });
}

test('at 400 % zoom, which leaves 320 × 256 pixels, everything can be reached in every state', async () => {
  const page = await stage.page();
  await page.setViewportSize({ width: 320, height: 256 });
  await openShop(stage, page, tagOf(stage, 'zoomed'));
  const checkout = checkoutOn(page);
  const look = async (status: CheckoutStatus) => {
    await checkout.reach(status);
    expect(await outOfReach(page), status).toEqual([]);
  };
  await look('idle');
  await checkout.act();
  await look('choosing-currency');
  await checkout.element.getByRole('radio', { name: /^Tether USD/ }).click();
  await look('choosing-network');
  await checkout.element.getByRole('radio', { name: /^Tron/ }).click();
  await checkout.part('time-log').waitFor();
  await checkout.part('exchange').locator('summary').click();
  await checkout.part('time-log').locator('summary').click();
  await look('awaiting-funds');
  await checkout.part('copy-amount').click();
  await checkout.part('notice').filter({ hasText: /./ }).waitFor();
  await checkout.part('cancel').click();
  await checkout.part('question').waitFor();
  await look('awaiting-funds');
  await checkout.part('keep').click();
  const payment = await newestPayment();
  await stage.send(payment, '5');
  await look('partially-paid');
  await stage.send(payment, (await stage.verify(payment.id)).amountDue ?? 0);
  await look('confirming');
  const { currencyNetwork: network = '' } = await stage.verify(payment.id);
  await stage.sandbox('blocks', { network, count: 3 });
  await look('success');
});
