/** The shop, the order and the total. */
import { html, nothing, type TemplateResult } from 'lit';
import { initials } from './initials.js';
import type { FirstContext } from './view.js';

/** A line of the order, as the page gives it. */
export interface LineItem {
  readonly name: string;
  readonly quantity?: number | undefined;
  /** For the whole line, in the base currency. */
  readonly amount?: string | number | undefined;
}

export interface Heading {
  /** An https URL; undefined if there is none, or if it did not load. */
  readonly logo: string | undefined;
  readonly reference: string | undefined;
  readonly items: readonly LineItem[];
  readonly baseCurrency: string;
  readonly onBrokenLogo: () => void;
}

export function header(
  heading: Heading,
  { text, money, merchantName: merchant, total }: FirstContext,
): TemplateResult | typeof nothing {
  const { logo, reference, items, baseCurrency, onBrokenLogo } = heading;
  if (!merchant && !reference && !total) return nothing;
  return html`<header part="header" class="header">
    ${
      merchant
        ? logo
          ? html`<img
              part="logo"
              class="logo"
              src=${logo}
              alt=""
              referrerpolicy="no-referrer"
              @error=${onBrokenLogo}
            />`
          : html`<span part="logo" class="logo" aria-hidden="true">${initials(merchant)}</span>`
        : nothing
    }
    <div class="who">
      ${merchant ? html`<b part="merchant"><bdi>${merchant}</bdi></b>` : nothing}
      ${reference ? html`<span part="order" class="quiet">${/^order/i.test(reference) ? reference : text('order', { reference })}</span>` : nothing}
    </div>
    ${
      total
        ? html`<div class="total">
            <span class="quiet">${text('total')}</span>
            <b part="total"><bdi dir="ltr" translate="no">${total}</bdi></b>
          </div>`
        : nothing
    }
    ${
      items.length === 0
        ? nothing
        : html`<ul part="items" class="items" aria-label=${text('items')}>
            ${items.map(
              ({ name, quantity = 1, amount }) =>
                html`<li>
                  <span>${quantity === 1 ? name : text('quantity', { name, quantity })}</span>
                  ${isPrice(amount) ? html`<bdi dir="ltr" translate="no">${money(amount, baseCurrency)}</bdi>` : nothing}
                </li>`,
            )}
          </ul>`
    }
  </header>`;
}

/** A page may pass lines without an amount, or with an ambiguous one like "12,50". */
function isPrice(amount: LineItem['amount']): amount is string | number {
  return amount !== undefined && Number.isFinite(Number(amount)) && amount !== '';
}
