/**
 * Payment links: pages that sell without code.
 *
 * @place {"order": 92, "label": "Payment links", "permission": "links.list"}
 */
import { html, nothing } from 'lit';
import { links } from '../../src/contract/links.js';
import { time } from '../format.js';
import { texts } from '../messages/links.js';
import type { View } from '../page.js';
import { copyable } from '../ui/copy.js';
import { choice, listOf, listPage } from '../ui/list.js';
import { linkFields, priceOf, settingsOf, stateOf } from './link-parts.js';

const list = listOf(links.list, {
  label: texts.links,
  filters: [
    choice('state', texts.state, { on: texts.on, off: texts.off }, (state) => ({ isActive: state === 'on' })),
  ],
  href: ({ id }, view) => view.link('link', id),
  columns: (view) => [
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
});

const counterLink = (view: View) =>
  view.can('counter.retrieve') && view.can('payments.create')
    ? html`<a class="button" href=${`${view.apiUrl}/console/counter?mode=${view.mode}`}>${texts.counter}</a>`
    : nothing;

async function create(view: View): Promise<void> {
  const values = await view.ask({ title: texts.newLinkTitle, fields: linkFields(), action: texts.save });
  if (!values) return;
  const body = { ...settingsOf(values), baseCurrency: (values['baseCurrency'] ?? '').toUpperCase() };
  const made = await view.act(() => view.api(links.create, { body }), texts.saved);
  if (made) view.go(view.link('link', made.data.id));
}

export default listPage(list, {
  title: texts.links,
  empty: texts.noLinks,
  create: {
    page: 'links',
    text: texts.newLink,
    permission: 'links.create',
    run: create,
    others: counterLink,
  },
});
