/** The lines of an invoice, as its page shows and prints them. */
import type { Currency } from '../../core/money/currency-list.js';
import { html, type Html } from '../../core/site/html.js';
import type { PageLocale } from '../../core/site/page-texts.js';
import { createPriceOf } from './form-page.js';
import { totalOf } from './settings.js';
import type { LinkRow } from './tables.js';

/** Nothing if the link is no invoice. */
export function invoiceLines({ lines }: LinkRow, locale: PageLocale, currency: Currency): Html {
  if (lines.length === 0) return html``;
  const texts = locale.texts.link;
  const priceOf = createPriceOf(locale, currency);
  const ltr = (text: string) => html`<bdi dir="ltr">${text}</bdi>`;
  const rows = lines.map(
    ({ name, quantity, amount }) =>
      html`<tr>
        <td>${name}</td>
        <td class="number">${ltr(String(quantity))}</td>
        <td class="number">${ltr(priceOf(amount * BigInt(quantity)))}</td>
      </tr>`,
  );
  return html`<table class="lines">
    <thead>
      <tr>
        <th scope="col">${texts.item}</th>
        <th scope="col" class="number">${texts.quantity}</th>
        <th scope="col" class="number">${texts.amount}</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
    <tfoot>
      <tr>
        <th scope="row" colspan="2">${texts.total}</th>
        <td class="number">${ltr(priceOf(totalOf(lines)))}</td>
      </tr>
    </tfoot>
  </table>`;
}
