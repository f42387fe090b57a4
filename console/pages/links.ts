/**
 * Payment links: pages that sell without code.
 *
 * @place {"order": 92, "label": "Payment links", "permission": "links.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import type { Pagination } from '../../src/contract/endpoint.js';
import { links } from '../../src/contract/links.js';
import { time } from '../format.js';
import { texts } from '../messages/links.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { copyable } from '../ui/copy.js';
import { emptyHint } from '../ui/empty.js';
import { filterBar } from '../ui/filter-bar.js';
import { table } from '../ui/table.js';
import { linkFields, priceOf, settingsOf, stateOf, type Link } from './link-parts.js';

interface Data {
  readonly rows: readonly Link[];
  readonly pagination: Pagination | undefined;
}

async function load({ api, query, signal }: View): Promise<Data> {
  const state = query.get('state');
  const filter = { page: query.get('page') ?? undefined, ...(state && { isActive: state === 'on' }) };
  const { data: rows, pagination } = await api(links.list, { query: filter }, signal);
  return { rows, pagination };
}

const render = ({ rows, pagination }: Data, view: View): TemplateResult =>
  html`<div class="bar">
      ${filterBar(view, [
        {
          ...{ name: 'state', label: texts.state },
          options: [
            ['on', texts.on],
            ['off', texts.off],
          ],
        },
      ])}
      <div class="actions">
        ${
          view.can('counter.retrieve') && view.can('payments.create')
            ? html`<a class="button" href=${`${view.apiUrl}/console/counter?mode=${view.mode}`}
                >${texts.counter}</a
              >`
            : nothing
        }
        ${button(view, {
          ...{ text: texts.newLink, permission: 'links.create', kind: 'main' },
          run: () => create(view),
        })}
      </div>
    </div>
    ${table<Link>({
      label: texts.links,
      ...{ rows, pagination, view },
      href: ({ id }) => view.link('link', id),
      columns: [
        { label: texts.title, cell: ({ title }) => title },
        { label: texts.price, kind: 'money', cell: priceOf },
        { label: texts.sold, kind: 'money', cell: ({ sold }) => sold },
        {
          label: texts.left,
          kind: 'money',
          cell: ({ stock, sold, reserved }) =>
            stock === null ? '' : Math.max(0, stock - sold - reserved).toLocaleString('en'),
        },
        { label: texts.state, kind: 'status', cell: stateOf },
        { label: texts.address, kind: 'hash', cell: ({ url, slug }) => copyable(url, view, `/l/${slug}`) },
        { label: texts.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
      ],
      empty: emptyHint(view, texts.noLinks, {
        text: texts.newLink,
        page: 'links',
        query: { do: 'create' },
        permission: 'links.create',
      }),
    })}`;

async function create(view: View): Promise<void> {
  const values = await view.ask({ title: texts.newLinkTitle, fields: linkFields(), action: texts.save });
  if (!values) return;
  const body = { ...settingsOf(values), baseCurrency: (values['baseCurrency'] ?? '').toUpperCase() };
  const made = await view.act(() => view.api(links.create, { body }), texts.saved);
  if (made) view.go(view.link('link', made.data.id));
}

export default page<Data>({ title: () => texts.links, load, render, actions: { create } });
