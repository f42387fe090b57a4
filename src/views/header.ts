/** The merchant, the order and the total. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Payment } from '../contract/checkout.js';
import type { ViewContext } from './view.js';

export interface Heading {
  readonly branding: Payment['branding'];
  readonly reference: string | undefined;
  /** In the base currency; undefined if the view itself shows the exact amount. */
  readonly total: string | undefined;
}

export function header(
  { branding, reference, total }: Heading,
  { text }: ViewContext,
): TemplateResult | typeof nothing {
  const merchant = branding?.businessName || branding?.name;
  if (!merchant && !reference && !total) return nothing;
  return html`<header part="header" class="header">
    ${
      branding?.logo.startsWith('https:')
        ? html`<img
            part="logo"
            src=${branding.logo}
            alt=""
            width="40"
            height="40"
            referrerpolicy="no-referrer"
          />`
        : nothing
    }
    <div>
      ${merchant ? html`<b part="merchant">${merchant}</b>` : nothing}
      ${reference ? html`<span part="order" class="quiet">${text('order', { reference })}</span>` : nothing}
    </div>
    ${
      total
        ? html`<div class="total">
            <span class="quiet">${text('total')}</span>
            <b part="total" dir="ltr">${total}</b>
          </div>`
        : nothing
    }
  </header>`;
}
