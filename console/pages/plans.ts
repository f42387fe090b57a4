/**
 * Plans with recurring charges.
 *
 * @place {"order": 120, "label": "Plans", "permission": "paymentPlans.list"}
 */
import { paymentPlans } from '../../src/contract/payment-plans.js';
import { amount } from '../format.js';
import { texts } from '../messages/customers.js';
import type { View } from '../page.js';
import { tag } from '../ui/details.js';
import { listOf, listPage } from '../ui/list.js';

const list = listOf(paymentPlans.list, {
  label: texts.plans,
  href: ({ id }, view) => view.link('plan', id),
  columns: () => [
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
});

async function create(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.newPlanTitle,
    fields: [
      { name: 'planName', label: texts.plan, isRequired: true },
      { name: 'amount', label: texts.amount, type: 'number', isRequired: true },
      { name: 'currency', label: texts.currency, value: 'USD', isRequired: true },
      {
        name: 'frequency',
        label: texts.frequency,
        value: 'monthly',
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
    planName,
    amount: price,
    frequency,
    numberOfTimesToCharge: times,
    currency: currency.toUpperCase(),
    currencies: coins
      .toUpperCase()
      .split(/[\s,]+/)
      .filter((one) => one !== ''),
  };
  const made = await view.act(() => view.api(paymentPlans.create, { body }), texts.saved);
  // The API lists the newest first: the first page has it.
  if (made && view.query.has('page')) view.filter({});
}

export default listPage(list, {
  title: texts.plans,
  empty: texts.noPlans,
  create: { page: 'plans', text: texts.newPlan, permission: 'paymentPlans.create', run: create },
});
