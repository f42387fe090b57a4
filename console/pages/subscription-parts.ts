/** Subscriptions with the names of customer and plan: the list, which three pages show. */
import { html, nothing, type TemplateResult } from 'lit';
import { relations } from '../../src/contract/console-relations.js';
import type { Pagination, ParsedData } from '../../src/contract/endpoint.js';
import { subscribers } from '../../src/contract/subscribers.js';
import { amount, time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/customers.js';
import type { View } from '../page.js';
import { button } from '../ui/button.js';
import { tag } from '../ui/details.js';
import { table } from '../ui/table.js';

export type Subscription = ParsedData<typeof relations.listSubscriptions>[number];

export interface Subscriptions {
  readonly rows: readonly Subscription[];
  readonly pagination: Pagination | undefined;
}

export async function loadSubscriptions(
  { api, query, signal }: View,
  of: {
    readonly customer?: string | undefined;
    readonly planId?: string;
    readonly isActive?: boolean | undefined;
  },
): Promise<Subscriptions> {
  const filter = { ...of, page: query.get('page') ?? undefined };
  const { data: rows, pagination } = await api(relations.listSubscriptions, { query: filter }, signal);
  return { rows, pagination };
}

/** Sums in several currencies, one after the other. */
export const sumsOf = (sums: readonly { readonly amount: number; readonly currency: string }[]): string =>
  sums.length === 0 ? texts.nothingPaid : sums.map((one) => amount(one.amount, one.currency)).join(', ');

const customerOf = ({ customer: { email, fullName } }: Subscription) =>
  fullName === undefined ? email : html`${fullName} <small>${email}</small>`;

/** @param about what the page is about, which its rows need not say again */
export function subscriptionTable(
  { rows, pagination }: Subscriptions,
  about: 'customer' | 'plan' | 'all',
  view: View,
  empty: TemplateResult | string,
): TemplateResult {
  const customer = { label: texts.customer, cell: customerOf };
  const plan = (isLink: boolean) => ({
    label: texts.plan,
    cell: ({ plan: { id, planName } }: Subscription) =>
      isLink ? html`<a href=${view.link('plan', id)}>${planName}</a>` : planName,
  });
  return table<Subscription>({
    label: texts.subscriptions,
    ...{ rows, pagination, view, empty },
    href: (one) =>
      about === 'customer' ? view.link('plan', one.plan.id) : view.link('customer', one.customer.id),
    columns: [
      ...(about === 'customer' ? [plan(false)] : about === 'plan' ? [customer] : [customer, plan(true)]),
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
}

const endButton = (one: Subscription, view: View) =>
  button(view, {
    ...{ text: texts.end, permission: 'subscribers.remove', kind: 'small' },
    run: () => end(one, view),
  });

async function end({ id, customer, plan }: Subscription, view: View): Promise<void> {
  const { endText: text, endAction: action } = texts;
  const title = texts.endTitle(customer.email, plan.planName);
  if (!(await view.ask({ title, text, action, isFinal: true }))) return;
  const params = { payment_plan_subscriber_id: id };
  await view.act(() => view.api(subscribers.remove, { params }), texts.ended);
}
