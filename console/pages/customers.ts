/**
 * The people who pay.
 *
 * @place {"order": 100, "label": "Customers", "permission": "customers.list"}
 */
import { html, type TemplateResult } from 'lit';
import { customers } from '../../src/contract/customers.js';
import type { Pagination } from '../../src/contract/endpoint.js';
import { time } from '../format.js';
import { texts } from '../messages/customers.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { emptyHint } from '../ui/empty.js';
import { filterBar } from '../ui/filter-bar.js';
import { table } from '../ui/table.js';
import { customerFields, stateOf, type Customer } from './customer-parts.js';

interface Data {
  readonly rows: readonly Customer[];
  readonly pagination: Pagination | undefined;
}

async function load({ api, query, signal }: View): Promise<Data> {
  const get = (name: string) => query.get(name) ?? undefined;
  const state = get('state');
  const filter = {
    ...{ page: get('page'), email: get('email') },
    isBlackListed: state === undefined ? undefined : state === 'blocked',
  };
  const { data: rows, pagination } = await api(customers.list, { query: filter }, signal);
  return { rows, pagination };
}

const render = ({ rows, pagination }: Data, view: View): TemplateResult =>
  html`<div class="bar">
      ${filterBar(view, [
        { name: 'email', label: texts.email },
        {
          ...{ name: 'state', label: texts.state },
          options: [
            ['blocked', texts.blocked],
            ['allowed', texts.allowed],
          ],
        },
      ])}
      <div class="actions">
        ${button(view, {
          ...{ text: texts.newCustomer, permission: 'customers.create', kind: 'main' },
          run: () => create(view),
        })}
      </div>
    </div>
    ${table<Customer>({
      label: texts.customers,
      ...{ rows, pagination, view },
      href: ({ id }) => view.link('customer', id),
      columns: [
        { label: texts.email, cell: ({ email }) => email },
        { label: texts.name, cell: ({ fullName }) => fullName ?? '–' },
        { label: texts.phone, cell: ({ phoneNumber }) => phoneNumber ?? '–' },
        { label: texts.state, kind: 'status', cell: stateOf },
        { label: texts.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
      ],
      empty: emptyHint(view, texts.noCustomers, {
        text: texts.newCustomer,
        page: 'customers',
        query: { do: 'create' },
        permission: 'customers.create',
      }),
    })}`;

async function create(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.newCustomerTitle,
    fields: [{ name: 'email', label: texts.email, type: 'email', isRequired: true }, ...customerFields({})],
    action: texts.save,
  });
  if (!values) return;
  const { email = '', fullName, phoneNumber } = values;
  const body = { email, fullName: fullName || undefined, phoneNumber: phoneNumber || undefined };
  await view.act(() => view.api(customers.create, { body }), texts.saved);
}

export default page<Data>({ title: () => texts.customers, load, render, actions: { create } });
