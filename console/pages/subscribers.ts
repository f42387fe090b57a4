/**
 * Subscribers with recurring charges, and how often they have paid.
 *
 * @place {"order": 140, "label": "Subscribers", "permission": "subscribers.list"}
 */
import { html, type TemplateResult } from 'lit';
import type { Pagination, ParsedData } from '../../src/contract/endpoint.js';
import { subscribers } from '../../src/contract/subscribers.js';
import { time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/customers.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { short } from '../ui/copy.js';
import { tag } from '../ui/details.js';
import { filterBar } from '../ui/filter-bar.js';
import { table } from '../ui/table.js';

type Subscriber = ParsedData<typeof subscribers.list>[number];

interface Data {
  readonly rows: readonly Subscriber[];
  readonly pagination: Pagination | undefined;
}

async function load({ api, query, signal }: View): Promise<Data> {
  const get = (name: string) => query.get(name) ?? undefined;
  const state = get('state');
  const filter = {
    ...{ page: get('page'), customer: get('customer') },
    isActive: state === undefined ? undefined : state === 'active',
  };
  const { data: rows, pagination } = await api(subscribers.list, { query: filter }, signal);
  return { rows, pagination };
}

const render = ({ rows, pagination }: Data, view: View): TemplateResult =>
  html`<div class="bar">
      ${filterBar(view, [
        { name: 'customer', label: texts.email },
        {
          ...{ name: 'state', label: texts.state },
          options: [
            ['active', texts.active],
            ['ended', texts.inactive],
          ],
        },
      ])}
    </div>
    ${table<Subscriber>({
      label: texts.subscribers,
      ...{ rows, pagination, view },
      href: ({ customerId }) => view.link('customer', customerId),
      columns: [
        { label: texts.customer, cell: ({ customerId }) => short(customerId) },
        {
          label: texts.plan,
          cell: ({ paymentPlanId }) =>
            html`<a href=${view.link('plan', paymentPlanId)}>${short(paymentPlanId)}</a>`,
        },
        { label: texts.paid, kind: 'money', cell: ({ noOfTimesPayed }) => `${noOfTimesPayed} ×` },
        {
          label: texts.state,
          kind: 'status',
          cell: ({ isActive }) => (isActive ? tag(texts.active, 'good') : tag(texts.inactive)),
        },
        { label: texts.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
        {
          label: common.actions,
          kind: 'actions',
          cell: ({ id }) =>
            button(view, {
              ...{ text: texts.end, permission: 'subscribers.remove', kind: 'small' },
              run: () => end(id, view),
            }),
        },
      ],
      empty: html`<p>${texts.noSubscribers}</p>
        <a class="button" href=${view.link('plans')}>${texts.plans}</a>`,
    })}`;

async function end(id: string, view: View): Promise<void> {
  const { endTitle: title, endText: text, endAction: action } = texts;
  if (!(await view.ask({ title, text, action, isFinal: true }))) return;
  const params = { payment_plan_subscriber_id: id };
  await view.act(() => view.api(subscribers.remove, { params }), texts.ended);
}

export default page<Data>({ title: () => texts.subscribers, load, render });
