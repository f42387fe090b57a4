/** Mounts `<crypto-checkout>`, finds its parts, and uses it like a payer or the page's script. */
import { fixture, html, waitUntil } from '@open-wc/testing';
import { checkoutEvents, CryptoCheckout, type CheckoutStatus } from '../../src/index.js';

type Attributes = Readonly<Record<string, string | boolean>>;

export const orderAttributes: Attributes = {
  'public-key': 'pk_test_x',
  amount: '5000',
  'base-currency': 'NGN',
  'tx-ref': 'order-42',
};

export function createElement(attributes: Attributes): CryptoCheckout {
  const element = document.createElement('crypto-checkout');
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** Clones the element, like a framework that renders the same markup again. */
export function cloneElement(element: CryptoCheckout): CryptoCheckout {
  const copy = element.cloneNode(true);
  if (!(copy instanceof CryptoCheckout)) throw new Error('The clone is not a <crypto-checkout>');
  return copy;
}

/** Puts an element on the page, until the test ends. */
export async function mount(attributes: Attributes): Promise<CryptoCheckout> {
  const parent = await fixture<HTMLElement>(html`<div></div>`);
  const element = createElement(attributes);
  parent.append(element);
  await element.updateComplete;
  return element;
}

/** Has a long timeout: modules load on demand, and the machine may be busy. */
export function waitFor(condition: () => boolean, message?: string): Promise<void> {
  return waitUntil(condition, message, { timeout: 10_000 });
}

export async function waitForStatus(element: CryptoCheckout, status: CheckoutStatus): Promise<void> {
  await waitUntil(
    // A clone starts with the original's `status` attribute.
    () => element.status === status && element.getAttribute('status') === status,
    `status becomes ${status}, is ${element.getAttribute('status')}`,
    { timeout: 15_000 },
  );
}

function findPart(element: CryptoCheckout, part: string): HTMLElement | null {
  return element.shadowRoot?.querySelector<HTMLElement>(`[part='${part}']`) ?? null;
}

/** For assertions: comparing elements directly would print the whole tree on failure, which crashes the browser. */
export function hasPart(element: CryptoCheckout, part: string): boolean {
  return findPart(element, part) !== null;
}

export function getPart(element: CryptoCheckout, name: string): HTMLElement {
  const found = findPart(element, name);
  if (found === null) throw new Error(`There is no part "${name}" in status ${element.status}`);
  return found;
}

/** The text of a part, without the whitespace of its markup. */
export function textOf(element: CryptoCheckout, name: string): string {
  return getPart(element, name).textContent.replace(/\s+/g, ' ').trim();
}

export function press(element: CryptoCheckout, name = 'action'): void {
  getPart(element, name).click();
}

export function pickOption(element: CryptoCheckout, value: string): void {
  const radio = element.shadowRoot?.querySelector<HTMLInputElement>(`input[type='radio'][value='${value}']`);
  if (!radio) throw new Error(`There is no option "${value}" in status ${element.status}`);
  radio.click();
}

/** Clicks through from the pay button to the address. */
export async function goToAddress(
  element: CryptoCheckout,
  currency = 'USDT',
  network = 'tron',
): Promise<void> {
  press(element);
  await waitForStatus(element, 'choosing-currency');
  pickOption(element, currency);
  await element.updateComplete;
  if (element.status === 'choosing-network') pickOption(element, network);
  await waitForStatus(element, 'awaiting-funds');
}

/** Records the element's events as they fire, without the `checkout-` prefix. */
export function recordEvents(target: EventTarget): string[] {
  const events: string[] = [];
  for (const type of Object.keys(checkoutEvents)) {
    target.addEventListener(type, () => events.push(type.replace('checkout-', '')));
  }
  return events;
}
