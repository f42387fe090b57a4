/**
 * One hosted wallet and its addresses.
 *
 * @place {"order": 160, "parent": "wallets", "permission": "wallets.retrieve"}
 */
import { html, type TemplateResult } from 'lit';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { wallets } from '../../src/contract/wallets.js';
import { texts } from '../messages/customers.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { copyable } from '../ui/copy.js';
import { section } from '../ui/details.js';
import { table } from '../ui/table.js';

type Wallet = ParsedData<typeof wallets.retrieve>;

const load = async ({ api, id, signal }: View): Promise<Wallet> =>
  (await api(wallets.retrieve, { params: { wallet_id: id } }, signal)).data;

const render = ({ addresses, currency, id }: Wallet, view: View): TemplateResult =>
  html`<div class="panels">
    ${section(
      `${texts.addresses}: ${currency}`,
      table<Wallet['addresses'][number]>({
        label: texts.addresses,
        rows: addresses,
        view,
        columns: [
          { label: texts.network, cell: ({ network }) => network },
          { label: texts.address, kind: 'hash', cell: ({ address }) => copyable(address, view) },
        ],
        empty: '',
      }),
      button(view, { text: texts.remove, permission: 'wallets.remove', run: () => remove(id, view) }),
    )}
  </div>`;

async function remove(id: string, view: View): Promise<void> {
  const { removeTitle: title, removeText: text, removeAction: action } = texts;
  if (!(await view.ask({ title, text, action, isFinal: true }))) return;
  const remove = async () => {
    const reply = await view.api(wallets.remove, { params: { wallet_id: id } });
    view.go(view.link('wallets'));
    return reply;
  };
  await view.act(remove, texts.removed);
}

export default page<Wallet>({
  title: (_view, data) => texts.wallet(data?.label || data?.id || ''),
  load,
  render,
});
