/** The tag to put on a page of the shop, for a shop without payments. */
import { html } from 'lit';
import { settingsApi } from '../../src/contract/console-settings.js';
import { common } from '../messages/common.js';
import type { View } from '../page.js';
import { copyButton } from './copy.js';

/** The key of the shop's pages; undefined if there is none, and for roles that may not see keys. */
export async function publicKeyOf({ api, signal, can }: View): Promise<string | undefined> {
  if (!can('apiKeys.list')) return undefined;
  for (let page = 1; ; page += 1) {
    const { data: keys } = await api(settingsApi.apiKeys.list, { query: { page, skip: 100 } }, signal);
    const found = keys.find(({ kind, revokedAt }) => kind === 'public' && revokedAt === null);
    if (found || keys.length < 100) return found?.key;
  }
}

/** @param fact a sentence that comes first, if the page does not say already that nothing was paid */
export const teachTag = (view: View, publicKey: string | undefined, fact = '') =>
  html`<p>${fact} ${common.firstPayment}</p>
    ${widgetTag(view, publicKey)}`;

/** @param attributes further ones, as written in the tag */
export function widgetTag(view: View, publicKey = `pk_${view.mode}_…`, attributes = '') {
  const server = location.origin + view.apiUrl;
  const tag = `<script type="module" src="${server}/crypto-checkout.js"></script>
<crypto-checkout api-url="${server}" public-key="${publicKey}"
  amount="49.90" base-currency="USD"${attributes}></crypto-checkout>`;
  return html`<pre tabindex="0"><code translate="no">${tag}</code></pre>
    <div class="actions start">${copyButton(tag, view, common.copyTag)}</div>`;
}
