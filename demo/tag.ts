/** The tag of the checkout on the page, as text to paste into another page. */
import type { Order } from './shop-client.js';

/** The settings that a visitor tries on the checkout; empty for the page's defaults. */
export interface Look {
  readonly locale: string;
  readonly theme: string;
  readonly mode: string;
}

/** The element's attributes, in the order of the tag. Empty ones are left out. */
function attributesOf(order: Order, publicKey: string, look: Look): [name: string, value: string][] {
  const all: [string, string][] = [
    ['public-key', publicKey],
    ['amount', order.amount],
    ['base-currency', order.baseCurrency],
    ['tx-ref', order.reference],
    ['merchant-name', 'Nightjar Lanterns'],
    ['locale', look.locale],
    ['theme', look.theme],
    ['mode', look.mode],
  ];
  return all.filter(([, value]) => value !== '');
}

/** Works in a page of any origin: the script finds its API by its own address. */
export function tagText(order: Order, publicKey: string, look: Look, origin: string): string {
  const attributes = attributesOf(order, publicKey, look).map(([name, value]) => `  ${name}="${value}"`);
  return [
    `<script type="module" src="${origin}/crypto-checkout.js"></script>`,
    '<crypto-checkout',
    ...attributes,
    '></crypto-checkout>',
  ].join('\n');
}
