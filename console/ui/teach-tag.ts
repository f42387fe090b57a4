/** The tag to put on a page of the shop, for a shop without payments. */
import { html } from 'lit';
import { common } from '../messages/common.js';
import type { View } from '../page.js';

export const teachTag = (view: View) =>
  html`<p>${common.noPayments}</p>
    ${widgetTag(view, `pk_${view.mode}_…`)}`;

/** @param attributes further ones, as written in the tag */
export function widgetTag({ apiUrl }: View, publicKey: string, attributes = '') {
  const server = location.origin + apiUrl;
  const tag = `<script type="module" src="${server}/crypto-checkout.js"></script>
<crypto-checkout api-url="${server}" public-key="${publicKey}"
  amount="49.90" base-currency="USD"${attributes}></crypto-checkout>`;
  return html`<pre tabindex="0"><code>${tag}</code></pre>`;
}
