/** What to put on a page of the shop, for a shop without payments. */
import { html } from 'lit';
import { common } from '../messages/common.js';
import type { View } from '../page.js';

export function teachTag({ apiUrl, mode }: View) {
  const server = location.origin + apiUrl;
  const tag = `<script type="module" src="${server}/crypto-checkout.js"></script>
<crypto-checkout api-url="${server}" public-key="pk_${mode}_…"
  amount="49.90" base-currency="USD"></crypto-checkout>`;
  return html`<p>${common.noPayments}</p>
    <pre tabindex="0"><code>${tag}</code></pre>`;
}
