/** Puts `<crypto-checkout>` on the page and finds its parts, as a page's own script or a payer would. */
import { fixture, html, waitUntil } from '@open-wc/testing';
import { CryptoCheckout, type CheckoutStatus } from '../src/index.js';

export const eventTypes = [
  'checkout-ready',
  'checkout-created',
  'checkout-currency-set',
  'checkout-locked',
  'checkout-detected',
  'checkout-partial',
  'checkout-confirming',
  'checkout-success',
  'checkout-error',
  'checkout-expired',
  'checkout-cancelled',
] as const;

export type Attributes = Readonly<Record<string, string | boolean>>;

export const order: Attributes = {
  'public-key': 'pk_test_x',
  amount: '5000',
  'base-currency': 'NGN',
  'tx-ref': 'order-42',
};

export function create(attributes: Attributes): CryptoCheckout {
  const element = document.createElement('crypto-checkout');
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** As a framework does that renders the same markup again. */
export function copyOf(element: CryptoCheckout): CryptoCheckout {
  const copy = element.cloneNode(true);
  if (!(copy instanceof CryptoCheckout)) throw new Error('The copy is another element');
  return copy;
}

/** On the page until the test ends. */
export async function place(attributes: Attributes): Promise<CryptoCheckout> {
  const home = await fixture<HTMLElement>(html`<div></div>`);
  const element = create(attributes);
  home.append(element);
  await element.updateComplete;
  return element;
}

/** Patient, since modules are loaded on demand from a busy machine. */
export function until(condition: () => boolean, message?: string): Promise<void> {
  return waitUntil(condition, message, { timeout: 10_000 });
}

export async function reach(element: CryptoCheckout, status: CheckoutStatus): Promise<void> {
  await waitUntil(
    // A clone is born with the attribute of its original.
    () => element.status === status && element.getAttribute('status') === status,
    `reaches ${status}, not ${element.getAttribute('status')}`,
    { timeout: 15_000 },
  );
}

export function find(element: CryptoCheckout, part: string): HTMLElement | null {
  return element.shadowRoot?.querySelector<HTMLElement>(`[part='${part}']`) ?? null;
}

/** A failed comparison would print the whole element, which takes the browser down. */
export function has(element: CryptoCheckout, part: string): boolean {
  return find(element, part) !== null;
}

export function part(element: CryptoCheckout, name: string): HTMLElement {
  const found = find(element, name);
  if (found === null) throw new Error(`There is no part "${name}" while ${element.status}`);
  return found;
}

/** The text as it is read: without the line breaks and indentation of its markup. */
export function textOf(element: CryptoCheckout, name: string): string {
  return part(element, name).textContent.replace(/\s+/g, ' ').trim();
}

export function press(element: CryptoCheckout, name = 'action'): void {
  part(element, name).click();
}

export function pick(element: CryptoCheckout, value: string): void {
  const radio = element.shadowRoot?.querySelector<HTMLInputElement>(`input[type='radio'][value='${value}']`);
  if (!radio) throw new Error(`There is no option "${value}" while ${element.status}`);
  radio.click();
}

/** From the button to the address: USDT on Tron unless told otherwise. */
export async function payUpToAddress(
  element: CryptoCheckout,
  currency = 'USDT',
  network = 'tron',
): Promise<void> {
  press(element);
  await reach(element, 'choosing-currency');
  pick(element, currency);
  await element.updateComplete;
  press(element);
  await until(() => element.status !== 'choosing-currency');
  if (element.status === 'choosing-network') {
    await element.updateComplete;
    pick(element, network);
    await element.updateComplete;
    press(element);
  }
  await reach(element, 'quoted');
  press(element);
  await reach(element, 'awaiting-funds');
}

/** The events of the element as they fire, by the part of their names behind `checkout-`. */
export function listen(target: EventTarget): string[] {
  const heard: string[] = [];
  for (const type of eventTypes) {
    target.addEventListener(type, () => heard.push(type.replace('checkout-', '')));
  }
  return heard;
}
