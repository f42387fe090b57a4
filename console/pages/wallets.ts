/**
 * Wallets whose deposit addresses stay the same.
 *
 * @place {"order": 150, "label": "Hosted wallets", "permission": "wallets.list"}
 */
import { currencies } from '../../src/contract/currencies.js';
import { wallets } from '../../src/contract/wallets.js';
import { time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/customers.js';
import type { View } from '../page.js';
import { listOf, listPage } from '../ui/list.js';

const list = listOf(wallets.list, {
  label: texts.wallets,
  filters: [
    { name: 'label', label: texts.label, ask: (label) => ({ label }) },
    { name: 'currency', label: texts.coin, ask: (currency) => ({ currency }) },
  ],
  href: ({ id }, view) => view.link('wallet', id),
  columns: () => [
    { label: texts.label, cell: ({ label, id }) => label || id },
    { label: texts.coin, cell: ({ currency }) => currency },
    { label: texts.network, cell: ({ addresses }) => addresses.map(({ network }) => network).join(', ') },
    { label: texts.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
  ],
});

async function create(view: View): Promise<void> {
  const known = await view.act(() => view.api(currencies.list, {}, view.signal));
  if (!known) return;
  const coins = known.data.filter(({ type }) => type === 'crypto');
  const values = await view.ask({
    title: texts.newWalletTitle,
    fields: [
      { name: 'currency', label: texts.coin, options: coins.map(({ code }) => [code, code]) },
      { name: 'label', label: `${texts.label} (${common.optional})` },
    ],
    action: texts.save,
  });
  if (!values) return;
  const { currency = '', label } = values;
  const made = await view.act(() => view.api(wallets.create, { body: { currency, label } }), texts.saved);
  if (made) view.go(view.link('wallet', made.data.id));
}

export default listPage(list, {
  title: texts.wallets,
  empty: texts.noWallets,
  create: { page: 'wallets', text: texts.newWallet, permission: 'wallets.create', run: create },
});
