/** Subscriptions with the names of customer and plan: the list, which three pages show. */
import { html, nothing } from 'lit';
import { relations } from '../../src/contract/console-relations.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { subscribers } from '../../src/contract/subscribers.js';
import { amount, time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/customers.js';
import type { View } from '../page.js';
import { button } from '../ui/button.js';
import { tag } from '../ui/details.js';
import { choice, listOf, type Rows } from '../ui/list.js';

type Subscription = ParsedData<typeof relations.listSubscriptions>[number];
export type Subscriptions = Rows<Subscription>;

/** Sums in several currencies, one after the other. */
export const sumsOf = (sums: readonly { readonly amount: number; readonly currency: string }[]): string =>
  sums.length === 0 ? texts.nothingPaid : sums.map((one) => amount(one.amount, one.currency)).join(', ');

const customerOf = ({ customer: { email, fullName } }: Subscription) =>
  fullName === undefined ? email : html`${fullName} <small>${email}</small>`;

const planOf = ({ plan: { planName } }: Subscription) => planName;

const planLink = ({ plan: { id, planName } }: Subscription, view: View) =>
  html`<a href=${view.link('plan', id)}>${planName}</a>`;

/** @param about the subject of the page, which its rows need not name again */
export const subscriptionList = (about: 'customer' | 'plan' | 'all') =>
  listOf(relations.listSubscriptions, {
    label: texts.subscriptions,
    filters: [
      { name: 'customer', label: texts.email, ask: (customer) => ({ customer }) },
      choice('state', texts.state, { active: texts.active, ended: texts.inactive }, (state) => ({
        isActive: state === 'active',
      })),
    ],
    href: (one, view) =>
      about === 'customer' ? view.link('plan', one.plan.id) : view.link('customer', one.customer.id),
    columns: (view) => [
      about === 'customer'
        ? { label: texts.plan, cell: planOf }
        : { label: texts.customer, cell: customerOf },
      ...(about === 'all' ? [{ label: texts.plan, cell: (one: Subscription) => planLink(one, view) }] : []),
      {
        label: texts.paid,
        kind: 'money',
        cell: ({ timesPaid, paid, plan: { currency } }) => `${amount(paid, currency)} (${timesPaid} ×)`,
      },
      {
        label: texts.state,
        kind: 'status',
        cell: ({ isActive }) => (isActive ? tag(texts.active, 'good') : tag(texts.inactive)),
      },
      {
        label: texts.nextCharge,
        kind: 'time',
        cell: ({ nextChargeAt }) => (nextChargeAt === null ? '–' : time(nextChargeAt)),
      },
      {
        label: texts.lastPaid,
        kind: 'time',
        cell: ({ lastPaidAt }) => (lastPaidAt === null ? '–' : time(lastPaidAt)),
      },
      ...(view.can('subscribers.remove')
        ? [
            {
              label: common.actions,
              kind: 'actions' as const,
              cell: (one: Subscription) => (one.isActive ? endButton(one, view) : nothing),
            },
          ]
        : []),
    ],
  });

const endButton = (one: Subscription, view: View) =>
  button(view, {
    text: texts.end,
    permission: 'subscribers.remove',
    kind: 'small',
    run: () => end(one, view),
  });

async function end({ id, customer, plan }: Subscription, view: View): Promise<void> {
  const { endText: text, endAction: action } = texts;
  const title = texts.endTitle(customer.email, plan.planName);
  if (!(await view.ask({ title, text, action, isFinal: true }))) return;
  const params = { payment_plan_subscriber_id: id };
  await view.act(() => view.api(subscribers.remove, { params }), texts.ended);
}
