/**
 * Wallets whose deposit addresses stay the same.
 *
 * @place {"order": 150, "label": "Hosted wallets", "permission": "wallets.list"}
 */
import { html, type TemplateResult } from 'lit';
import { currencies } from '../../src/contract/currencies.js';
import type { Pagination, ParsedData } from '../../src/contract/endpoint.js';
import { wallets } from '../../src/contract/wallets.js';
import { time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/customers.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { emptyHint } from '../ui/empty.js';
import { filterBar } from '../ui/filter-bar.js';
import { table } from '../ui/table.js';

type Wallet = ParsedData<typeof wallets.list>[number];

interface Data {
  readonly rows: readonly Wallet[];
  readonly pagination: Pagination | undefined;
}

async function load({ api, query, signal }: View): Promise<Data> {
  const get = (name: string) => query.get(name) ?? undefined;
  const filter = { page: get('page'), currency: get('currency'), label: get('label') };
  const { data: rows, pagination } = await api(wallets.list, { query: filter }, signal);
  return { rows, pagination };
}

const render = ({ rows, pagination }: Data, view: View): TemplateResult =>
  html`<div class="bar">
      ${filterBar(view, [
        { name: 'label', label: texts.label },
        { name: 'currency', label: texts.coin },
      ])}
      <div class="actions">
        ${button(view, {
          ...{ text: texts.newWallet, permission: 'wallets.create', kind: 'main' },
          run: () => create(view),
        })}
      </div>
    </div>
    ${table<Wallet>({
      label: texts.wallets,
      ...{ rows, pagination, view },
      href: ({ id }) => view.link('wallet', id),
      columns: [
        { label: texts.label, cell: ({ label, id }) => label || id },
        { label: texts.coin, cell: ({ currency }) => currency },
        { label: texts.network, cell: ({ addresses }) => addresses.map(({ network }) => network).join(', ') },
        { label: texts.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
      ],
      empty: emptyHint(view, texts.noWallets, {
        text: texts.newWallet,
        page: 'wallets',
        query: { do: 'create' },
        permission: 'wallets.create',
      }),
    })}`;

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

export default page<Data>({ title: () => texts.wallets, load, render, actions: { create } });
