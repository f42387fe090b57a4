/**
 * The people who pay.
 *
 * @place {"order": 100, "label": "Customers", "permission": "customers.list"}
 */
import { customers } from '../../src/contract/customers.js';
import { time } from '../format.js';
import { texts } from '../messages/customers.js';
import type { View } from '../page.js';
import { choice, listOf, listPage } from '../ui/list.js';
import { customerFields, stateOf } from './customer-parts.js';

const list = listOf(customers.list, {
  label: texts.customers,
  filters: [
    { name: 'email', label: texts.email, ask: (email) => ({ email }) },
    choice('state', texts.state, { blocked: texts.blocked, allowed: texts.allowed }, (state) => ({
      isBlackListed: state === 'blocked',
    })),
  ],
  href: ({ id }, view) => view.link('customer', id),
  columns: () => [
    { label: texts.email, cell: ({ email }) => email },
    { label: texts.name, cell: ({ fullName }) => fullName ?? '–' },
    { label: texts.phone, cell: ({ phoneNumber }) => phoneNumber ?? '–' },
    { label: texts.state, kind: 'status', cell: stateOf },
    { label: texts.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
  ],
});

async function create(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.newCustomerTitle,
    fields: [{ name: 'email', label: texts.email, type: 'email', isRequired: true }, ...customerFields({})],
    action: texts.save,
  });
  if (!values) return;
  const { email = '', fullName, phoneNumber } = values;
  const body = { email, fullName: fullName || undefined, phoneNumber: phoneNumber || undefined };
  const made = await view.act(() => view.api(customers.create, { body }), texts.saved);
  // The API lists the newest first: the first page has it.
  if (made && view.query.has('page')) view.filter({});
}

export default listPage(list, {
  title: texts.customers,
  empty: texts.noCustomers,
  create: { page: 'customers', text: texts.newCustomer, permission: 'customers.create', run: create },
});
