/**
 * Plans with recurring charges.
 *
 * @place {"order": 120, "label": "Plans", "permission": "paymentPlans.list"}
 */
import { html, type TemplateResult } from 'lit';
import type { Pagination, ParsedData } from '../../src/contract/endpoint.js';
import { paymentPlans } from '../../src/contract/payment-plans.js';
import { amount } from '../format.js';
import { texts } from '../messages/customers.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { tag } from '../ui/details.js';
import { emptyHint } from '../ui/empty.js';
import { table } from '../ui/table.js';

type Plan = ParsedData<typeof paymentPlans.list>[number];

interface Data {
  readonly rows: readonly Plan[];
  readonly pagination: Pagination | undefined;
}

async function load({ api, query, signal }: View): Promise<Data> {
  const filter = { page: query.get('page') ?? undefined };
  const { data: rows, pagination } = await api(paymentPlans.list, { query: filter }, signal);
  return { rows, pagination };
}

const render = ({ rows, pagination }: Data, view: View): TemplateResult =>
  html`<div class="bar">
      <div class="actions">
        ${button(view, {
          ...{ text: texts.newPlan, permission: 'paymentPlans.create', kind: 'main' },
          run: () => create(view),
        })}
      </div>
    </div>
    ${table<Plan>({
      label: texts.plans,
      ...{ rows, pagination, view },
      href: ({ id }) => view.link('plan', id),
      columns: [
        { label: texts.plan, cell: ({ planName }) => planName },
        { label: texts.amount, kind: 'money', cell: (one) => amount(one.amount, one.currency) },
        { label: texts.frequency, cell: ({ frequency }) => texts.frequencies[frequency] },
        { label: texts.times, kind: 'money', cell: ({ numberOfTimesToCharge }) => numberOfTimesToCharge },
        {
          label: texts.state,
          kind: 'status',
          cell: ({ isActive }) => (isActive ? tag(texts.active, 'good') : tag(texts.inactive)),
        },
      ],
      empty: emptyHint(view, texts.noPlans, {
        text: texts.newPlan,
        page: 'plans',
        query: { do: 'create' },
        permission: 'paymentPlans.create',
      }),
    })}`;

async function create(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.newPlanTitle,
    fields: [
      { name: 'planName', label: texts.plan, isRequired: true },
      { name: 'amount', label: texts.amount, type: 'number', isRequired: true },
      { name: 'currency', label: texts.currency, value: 'USD', isRequired: true },
      {
        ...{ name: 'frequency', label: texts.frequency, value: 'monthly' },
        options: Object.entries(texts.frequencies),
      },
      { name: 'times', label: texts.times, type: 'number', value: '12', isRequired: true },
      { name: 'coins', label: texts.coins, value: 'USDT', isRequired: true, hint: texts.coinsHint },
    ],
    action: texts.save,
  });
  if (!values) return;
  const { planName = '', amount: price = '', currency = '', times = '', coins = '' } = values;
  const frequency = paymentPlans.create.body.shape.frequency.options.find(
    (one) => one === values['frequency'],
  );
  if (!frequency) return;
  const body = {
    ...{ planName, amount: price, frequency, numberOfTimesToCharge: times },
    currency: currency.toUpperCase(),
    currencies: coins
      .toUpperCase()
      .split(/[\s,]+/)
      .filter((one) => one !== ''),
  };
  await view.act(() => view.api(paymentPlans.create, { body }), texts.saved);
}

export default page<Data>({ title: () => texts.plans, load, render, actions: { create } });
