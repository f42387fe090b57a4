/** The widget as a payer meets it, by its roles and parts, and the demo shop around it. */
import type { CheckoutStatus } from 'crypto-checkout';
import type { Locator, Page } from 'playwright-core';
import type { SimulationName } from '../../demo/shop-client.js';

export interface Checkout {
  readonly element: Locator;
  part(name: string): Locator;
  /** Resolves once the element is in the state. */
  reach(status: CheckoutStatus): Promise<void>;
  /** Presses the main action. */
  act(): Promise<void>;
  /** From the first button to the address. A coin on only one network has no network step. */
  choose(coin: string, network?: string): Promise<void>;
  sentence(): Promise<string>;
  /** The whole address, as it would be copied. */
  address(): Promise<string>;
}

export function checkoutOn(page: Page): Checkout {
  const element = page.locator('crypto-checkout');
  const part = (name: string) => element.locator(`[part~="${name}"]`);
  const checkout: Checkout = {
    element,
    part,
    async reach(status) {
      await page.locator(`crypto-checkout[status="${status}"]`).waitFor();
      await part('heading').filter({ hasNotText: 'Loading…' }).waitFor();
    },
    act: () => part('action').click(),
    async choose(coin, network) {
      await checkout.reach('choosing-currency');
      await element
        .getByRole('radiogroup', { name: 'Currency' })
        .getByRole('radio', { name: new RegExp(`^${coin}`) })
        .click();
      if (network) {
        await checkout.reach('choosing-network');
        await element
          .getByRole('radiogroup', { name: 'Network' })
          .getByRole('radio', { name: new RegExp(`^${network}`) })
          .click();
      }
      await checkout.reach('awaiting-funds');
    },
    // A no-break space joins an amount and its currency.
    sentence: async () => (await part('status').innerText()).replaceAll('\u00a0', ' ').trim(),
    address: async () => ((await part('address').textContent()) ?? '').trim(),
  };
  return checkout;
}

export interface DemoShop extends Checkout {
  readonly page: Page;
  /** Simulates wallet, network or time, and waits until it is done. */
  simulate(name: SimulationName): Promise<void>;
  /** The rules that pass by the shop's server's last check. */
  rules(): Promise<string[]>;
  verdict(): Promise<string>;
  /** Has the shop's server check again. */
  verify(): Promise<void>;
  events(): Promise<string[]>;
}

/** Opens the shop with an order of one lantern; the checkout waits to be pressed. */
export async function orderAt(url: string, page: Page): Promise<DemoShop> {
  await page.goto(url);
  return order(page);
}

/** The order on the page that is open. */
async function order(page: Page): Promise<DemoShop> {
  const shop = shopOn(page);
  await shop.reach('idle');
  return shop;
}

export function shopOn(page: Page): DemoShop {
  const ready = () => page.locator('button.verify:enabled').waitFor();
  const verdict = page.locator('.verdict');
  return {
    ...checkoutOn(page),
    page,
    async simulate(name) {
      const done = page.locator('.done');
      const before = await done.textContent();
      await page.locator(`[data-simulation="${name}"]`).click();
      await ready();
      if (before) await done.filter({ hasNotText: before }).waitFor();
      else await done.filter({ hasText: /\S/ }).waitFor();
    },
    rules: () =>
      page
        .locator('[data-rule].holds')
        .evaluateAll((rules) => rules.map((rule) => rule.getAttribute('data-rule') ?? '')),
    verdict: async () => {
      await verdict.filter({ hasText: /\S/ }).waitFor();
      return verdict.innerText();
    },
    async verify() {
      const answered = page.waitForResponse(/\/verification$/);
      await page.locator('button.verify').click();
      await (await answered).finished();
      await ready();
    },
    events: () => page.locator('.events li code').allInnerTexts(),
  };
}
